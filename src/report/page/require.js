// Vega comes as pieces that ask for each other by name. This is all that they need of a
// module loader: a name, a function that fills `exports`, and each is run once.
const pieces = new Map();
const loaded = new Map();
function require(name) {
  if (!loaded.has(name)) {
    const define = pieces.get(name);
    if (!define) throw new Error('no piece ' + name);
    const module = { exports: {} };
    loaded.set(name, module.exports);
    define(module.exports, require, module);
  }
  return loaded.get(name);
}
