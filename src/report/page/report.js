// The charts of a report and the tables behind them, all from the data in the page.
// A chart is drawn when it comes into view, and again when its width or the colour
// scheme changes; a table is made when it is opened, a page of it at a time. So a report
// of thousands of workers opens as fast as one of ten.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const { View } = requireVega('vega-view');
  const { parse } = requireVega('vega-parser');
  const { expressionInterpreter } = requireVega('vega-interpreter');
  const dataflow = requireVega('vega-dataflow');
  for (const name of ['vega-transforms', 'vega-view-transforms', 'vega-encode']) {
    Object.assign(dataflow.transforms, requireVega(name));
  }

  const CLASSES = data.classes;
  const SHAPES = ['square', 'diamond', 'triangle-up', 'circle', 'square'];
  const HOLLOW = CLASSES.indexOf('unresolved');
  // How classes are called where there is room for a word only.
  const SHORT = CLASSES.map((name) => (name === 'discovery_failed' ? 'failed' : name));
  const DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 2, 1, 2]];
  const PAGE_ROWS = 50;
  const US_PER_MS = 1000;
  const US_PER_S = 1000000;

  // ---- small helpers

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }
  function svg(tag, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const ms = (us) => (us === null || us === undefined ? '' : (us / US_PER_MS).toFixed(us < 10 * US_PER_MS ? 3 : 1));
  // Three digits that count, and never as 1e-5.
  function digits(value) {
    if (value === 0) return '0';
    const decimals = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
    return value.toFixed(decimals);
  }
  // A time on an axis, in the unit that suits it.
  function duration(us) {
    if (us >= US_PER_S) return +(us / US_PER_S).toPrecision(3) + ' s';
    if (us >= US_PER_MS) return +(us / US_PER_MS).toPrecision(3) + ' ms';
    return us + ' µs';
  }
  const runsOf = (condition) => data.runs.filter((run) => run.c === condition);
  const hasWorkers = (run) => run.pid !== undefined;
  const cacheOf = (run, worker) => Math.floor(worker / data.conditions[run.c].per);
  const sizeOf = (run) => data.conditions[run.c].caches * data.conditions[run.c].per;

  // The arms in the order of the conditions; the driver alone is grey and undashed.
  const arms = [...new Set(data.conditions.map((c) => c.arm))];
  arms.sort((a, b) => (b === 'native') - (a === 'native'));
  const armColour = (arm) => 'arm-' + (arms[0] === 'native' ? arms.indexOf(arm) : arms.indexOf(arm) + 1) % 6;
  const armDash = (arm) => DASHES[arms.indexOf(arm) % DASHES.length];

  // ---- tables, made when they are opened

  function tableElement(columns, rows) {
    const head = element('tr');
    for (const column of columns) head.append(element('th', { scope: 'col', class: column.text ? null : 'n' }, column.title));
    const body = element('tbody');
    for (const row of rows) {
      const line = element('tr');
      row.forEach((cell, i) => line.append(element('td', { class: columns[i].text ? null : 'n' }, String(cell))));
      body.append(line);
    }
    return element('table', {}, element('thead', {}, head), body);
  }

  // `source` gives { columns, count, row(i) }.
  function fillTable(box, label, source) {
    let first = 0;
    const region = element('div', { class: 'box', role: 'region', tabindex: '0', 'aria-label': label });
    const back = element('button', { type: 'button' }, 'Previous');
    const next = element('button', { type: 'button' }, 'Next');
    const where = element('span', { 'aria-live': 'polite' });
    const show = () => {
      const last = Math.min(source.count, first + PAGE_ROWS);
      const rows = [];
      for (let i = first; i < last; ++i) rows.push(source.row(i));
      region.replaceChildren(tableElement(source.columns, rows));
      where.textContent = source.count === 0 ? 'No rows' : `Rows ${first + 1} to ${last} of ${source.count}`;
      back.disabled = first === 0;
      next.disabled = last >= source.count;
    };
    back.addEventListener('click', () => { first = Math.max(0, first - PAGE_ROWS); show(); });
    next.addEventListener('click', () => { first += PAGE_ROWS; show(); });
    show();
    box.replaceChildren(region);
    if (source.count > PAGE_ROWS) box.append(element('div', { class: 'pager' }, back, next, where));
  }

  function workerTable(run) {
    const discovers = data.conditions[run.c].discovers;
    const columns = [{ title: 'worker' }, { title: 'cache' }, { title: 'PID' }];
    if (discovers) {
      columns.push({ title: 'class', text: true }, { title: run.nvml ? 'holds host PID' : 'holds PID' });
      if (run.nvml) columns.push({ title: 'holds NVML PID' });
      columns.push({ title: 'of worker' }, { title: 'of cache' });
    }
    columns.push({ title: 'left the gate (ms)' }, { title: 'done (ms)' }, { title: 'cuInit (ms)' });
    const known = (value) => (value === null ? '' : value);
    return {
      columns,
      count: run.pid.length,
      row(i) {
        const row = [i, cacheOf(run, i), known(run.pid[i])];
        if (discovers) {
          const peer = run.cls[i] === '0' ? i : run.peer[i];
          row.push(CLASSES[run.cls[i]], known(run.got[i]));
          if (run.nvml) row.push(known(run.nvml[i]));
          row.push(peer < 0 ? '' : peer, peer < 0 ? '' : cacheOf(run, peer));
        }
        row.push(ms(run.from[i]), ms(run.to[i]), ms(run.init[i]));
        return row;
      },
    };
  }

  // ---- charts: how one is drawn, and when

  function config() {
    const text = { labelColor: colour('quiet'), titleColor: colour('quiet') };
    const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    return {
      background: null,
      font,
      axis: {
        ...text, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500,
        domainColor: colour('line'), tickColor: colour('line'), gridColor: colour('grid'), labelPadding: 4, titlePadding: 8,
        tickSize: 4,
      },
    };
  }

  const charts = [];
  const inView = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) charts.find((chart) => chart.figure === entry.target)?.draw();
    }
  }, { rootMargin: '300px' });

  // A figure with a caption, a legend, a chart and the table behind it. `describe` gives,
  // for what is chosen, { spec(width), label, legend, table, note }; spec null: nothing to draw.
  class Chart {
    constructor(kind, title, choices, describe) {
      this.describe = describe;
      this.drawn = false;
      this.turn = 0;
      this.canvas = element('div', { class: 'canvas', role: 'img' });
      this.legend = element('ul', { class: 'legend' });
      this.note = element('p', { class: 'invalid', hidden: '' });
      this.box = element('div');
      this.details = element('details', {}, element('summary', {}, 'Table'), this.box);
      const caption = element('figcaption', {}, element('span', {}, title));
      this.choice = null;
      if (choices.length > 1) {
        this.select = element('select', { 'aria-label': `Run of ${title}` });
        choices.forEach((choice, i) => this.select.append(element('option', { value: i }, choice.label)));
        caption.append(element('label', {}, 'Run', this.select));
        this.select.addEventListener('change', () => { this.choose(choices[this.select.value]); });
      }
      this.figure = element('figure', { 'data-chart': kind }, caption, this.note, this.legend, this.canvas, this.details);
      this.details.addEventListener('toggle', () => this.showTable());
      const best = Math.max(0, choices.findIndex((choice) => choice.preferred));
      if (this.select) this.select.value = best;
      this.choice = choices[best];
      this.show();
      charts.push(this);
    }
    choose(choice) {
      this.choice = choice;
      this.show();
      if (this.drawn) this.draw(true);
    }
    // What needs no drawing: legend, note, table.
    show() {
      this.said = this.describe(this.choice);
      this.canvas.setAttribute('aria-label', this.said.label);
      this.legend.replaceChildren(...this.said.legend.map(({ icon, text }) => element('li', {}, icon, text)));
      this.note.textContent = this.said.note || '';
      this.note.hidden = !this.said.note;
      this.showTable();
    }
    showTable() {
      if (this.details.open) fillTable(this.box, 'Table: ' + this.said.label, this.said.table());
      else this.box.replaceChildren();
    }
    // `again`: also if it is drawn already.
    draw(again) {
      const width = this.canvas.clientWidth;
      if ((this.drawn && !again) || width === 0) return;
      this.drawn = true;
      this.width = width;
      delete this.figure.dataset.drawn;
      this.view?.finalize();
      this.view = null;
      const spec = this.said.spec(width);
      if (spec === null) {
        this.canvas.replaceChildren(element('p', { class: 'how' }, 'Nothing was recorded that could be drawn.'));
        this.figure.dataset.drawn = 'nothing';
        return;
      }
      // Vega names what it is given; who cannot see the chart is told what it shows.
      const host = element('div', { 'aria-hidden': 'true' });
      this.canvas.replaceChildren(host);
      const turn = ++this.turn;
      this.view = new View(parse(spec, config(), { ast: true }), {
        expr: expressionInterpreter, renderer: 'canvas', container: host, hover: false,
        tooltip: (handler, event, item, text) => { this.canvas.title = text || ''; },
      });
      this.view.runAsync().then(() => { if (turn === this.turn) this.figure.dataset.drawn = 'true'; });
    }
  }

  let resizing = 0;
  new ResizeObserver(() => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      for (const chart of charts) if (chart.drawn && chart.canvas.clientWidth !== chart.width) chart.draw(true);
    }, 100);
  }).observe(document.body);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const chart of charts) {
      chart.show();
      if (chart.drawn) chart.draw(true);
    }
  });
  addEventListener('beforeprint', () => { for (const chart of charts) chart.draw(); });

  // ---- legends

  function shapeIcon(c) {
    const shapes = [
      ['rect', { x: 3, y: 1, width: 8, height: 8 }], ['path', { d: 'M7 0L12 5L7 10L2 5Z' }], ['path', { d: 'M7 0L12 10L2 10Z' }],
      ['circle', { cx: 7, cy: 5, r: 4.5 }], ['rect', { x: 3, y: 1, width: 8, height: 8 }],
    ];
    const [tag, attributes] = shapes[c];
    const paint = c === HOLLOW ? { fill: 'none', stroke: `var(--c-${CLASSES[c]})`, 'stroke-width': 2 } : { fill: `var(--c-${CLASSES[c]})` };
    return svg('svg', { viewBox: '0 0 14 10', class: 'shape', 'aria-hidden': 'true' }, svg(tag, { ...attributes, ...paint }));
  }
  const classLegend = (run) => CLASSES.map((name, c) => ({ icon: shapeIcon(c), text: `${name} ${run.counts[c]}`, count: run.counts[c] }))
    .filter((entry) => entry.count > 0);
  const lineIcon = (name, dash) => svg('svg', { viewBox: '0 0 24 10', 'aria-hidden': 'true' },
    svg('line', { x1: 0, x2: 24, y1: 5, y2: 5, stroke: `var(--${name})`, 'stroke-width': 2.5, 'stroke-dasharray': dash.join(' ') }));

  function runChoices(condition) {
    const choices = runsOf(condition).map((run) => ({
      run, label: `r${run.rep}` + (run.valid ? '' : ' (invalid)') + (hasWorkers(run) ? '' : ' (only in the tables)'),
      preferred: run.valid && hasWorkers(run),
    }));
    return choices;
  }
  const noteOf = (run) => (run.valid ? null : `Not valid: ${run.why}`);
  const nothing = (run) => ({
    spec: () => null, legend: [], note: noteOf(run), label: `${run.id}: its workers are in the tables of the evidence only`,
    table: () => ({ columns: [{ title: 'worker' }], count: 0, row: () => [] }),
  });

  // ---- who holds whose PID

  // Of an arm that claims two numbers: which of them a worker that is right knows.
  function ownNumbers(run, w) {
    if (!run.nvml) return 'PID';
    if (run.nvml[w] === null) return 'host PID and knows no NVML PID';
    return run.got[w] === null ? 'NVML PID and knows no host PID' : 'host PID and NVML PID';
  }

  const STRIPS = ['unresolved', 'discovery_failed', 'external'];  // above the matrix, from the top

  function matrix({ run }) {
    if (!hasWorkers(run)) return nothing(run);
    const condition = data.conditions[run.c];
    const n = sizeOf(run);
    const marks = [];
    for (let w = 0; w < n; ++w) {
      const c = Number(run.cls[w]);
      const holds = CLASSES[c] === 'self' ? w : run.peer[w];
      const text = CLASSES[c] === 'self' ? `worker ${w} (cache ${cacheOf(run, w)}) holds its own ${ownNumbers(run, w)}`
        : holds >= 0 ? `worker ${w} (cache ${cacheOf(run, w)}) holds the PID of worker ${holds} (cache ${cacheOf(run, holds)})`
          : `worker ${w} (cache ${cacheOf(run, w)}): ${CLASSES[c]}` + (run.got[w] === null ? '' : `, PID ${run.got[w]}`);
      marks.push({ w, c, holds, text });
    }
    const counts = CLASSES.map((name, c) => `${run.counts[c]} ${name}`).join(', ');
    return {
      label: `${run.id}, ${n} workers: ${counts}`,
      legend: classLegend(run),
      note: noteOf(run),
      table: () => workerTable(run),
      spec(width) {
        const left = 78;
        const right = 14;
        const row = 20;
        const top = 8;
        const inner = Math.min(width - left - right, 430);
        const strips = STRIPS.length * row + 8;
        const side = inner;
        const domain = [-0.5, n - 0.5];
        const block = (inner * condition.per) / n;
        const size = Math.max(9, Math.min(64, (inner / n) ** 2 * 0.6));
        const blocks = [];
        if (condition.caches > 1) for (let k = 0; k < condition.caches; ++k) blocks.push({ a: k * condition.per - 0.5 });
        else blocks.push({ a: -0.5 });
        const paint = (datum) => ({ ...datum, fill: datum.c === HOLLOW ? 'transparent' : colour('c-' + CLASSES[datum.c]), stroke: colour('c-' + CLASSES[datum.c]), shape: SHAPES[datum.c] });
        const placed = marks.map(paint).map((m) => ({
          ...m, y: m.holds >= 0 ? null : STRIPS.indexOf(CLASSES[m.c]) * row + row / 2,
        }));
        const symbol = (source, y) => ({
          type: 'symbol', from: { data: source },
          encode: { enter: {
            x: { scale: 'x', field: 'w' }, y, size: { value: size }, shape: { field: 'shape' }, fill: { field: 'fill' },
            stroke: { field: 'stroke' }, strokeWidth: { value: 0.8 }, tooltip: { field: 'text' },
          } },
        });
        const labels = STRIPS.map((name, i) => ({ name: SHORT[CLASSES.indexOf(name)], count: run.counts[CLASSES.indexOf(name)], y: i * row + row / 2 }));
        const format = { tickMinStep: 1, format: 'd', tickCount: Math.max(2, Math.min(6, Math.floor(inner / 60))) };
        return {
          width: inner, height: strips + side, autosize: 'none',
          padding: { left, right, top, bottom: 42 },
          data: [
            { name: 'inside', values: placed.filter((m) => m.holds >= 0) }, { name: 'beside', values: placed.filter((m) => m.holds < 0) },
            { name: 'blocks', values: blocks }, { name: 'labels', values: labels },
          ],
          scales: [
            { name: 'x', type: 'linear', domain, range: [0, inner], zero: false, nice: false },
            { name: 'y', type: 'linear', domain, range: [strips + side, strips], zero: false, nice: false },
          ],
          axes: [
            { scale: 'x', orient: 'bottom', title: 'worker', ...format },
            { scale: 'y', orient: 'left', title: 'holds the PID of worker', ...format },
          ],
          marks: [
            { type: 'rect', encode: { enter: { x: { value: 0 }, width: { value: inner }, y: { value: strips }, height: { value: side }, stroke: { value: colour('line') } } } },
            { type: 'rect', from: { data: 'blocks' }, encode: { enter: { x: { scale: 'x', field: 'a' }, width: { value: block }, y2: { scale: 'y', field: 'a' }, height: { value: block }, fill: { value: colour('block') } } } },
            { type: 'rule', from: { data: 'labels' }, encode: { enter: { x: { value: 0 }, x2: { value: inner }, y: { field: 'y' }, stroke: { value: colour('grid') } } } },
            { type: 'text', from: { data: 'labels' }, encode: { enter: { x: { value: -8 }, y: { field: 'y' }, align: { value: 'right' }, baseline: { value: 'middle' }, text: { field: 'name' }, fontSize: { value: 12 }, fill: { value: colour('quiet') } } } },
            symbol('inside', { scale: 'y', field: 'holds' }), symbol('beside', { field: 'y' }),
          ],
        };
      },
    };
  }

  // ---- from the gate to the return

  const longest = Math.max(1, ...data.runs.filter((run) => run.valid && hasWorkers(run)).map((run) => Math.max(0, ...run.to.filter((t) => t !== null))));

  function timeline({ run }) {
    if (!hasWorkers(run)) return nothing(run);
    const discovers = data.conditions[run.c].discovers;
    const n = sizeOf(run);
    const groups = discovers ? CLASSES.map((name, c) => ({ name: SHORT[c], paint: 'c-' + name, c })) : [{ name: 'workers', paint: 'neutral', c: null }];
    for (const group of groups) {
      group.workers = [];
      for (let w = 0; w < n; ++w) {
        if ((group.c === null || Number(run.cls[w]) === group.c) && run.from[w] !== null && run.to[w] !== null) group.workers.push(w);
      }
      group.workers.sort((a, b) => run.to[a] - run.to[b] || a - b);
    }
    const shown = groups.filter((group) => group.workers.length > 0);
    const drawn = shown.reduce((sum, group) => sum + group.workers.length, 0);
    const missing = n - drawn;
    return {
      label: `${run.id}: time lines of ${drawn} of ${n} workers` + (missing > 0 ? `; of ${missing} no time was recorded` : ''),
      legend: discovers ? classLegend(run) : [{ icon: lineIcon('neutral', [1, 0]), text: `workers ${n}` }],
      note: [noteOf(run), missing > 0 ? `No time was recorded of ${missing} workers.` : null].filter(Boolean).join(' ') || null,
      table: () => workerTable(run),
      spec(width) {
        if (drawn === 0) return null;
        const left = 78;
        const right = 14;
        const gap = 6;
        // Whole pixels, so that thin lines make no pattern that is not there.
        const step = Math.max(1, Math.min(8, Math.round(260 / drawn)));
        const thick = step < 3 ? step : step - 1;
        const inner = width - left - right;
        const lines = [];
        const labels = [];
        let y = 4;
        for (const group of shown) {
          const begin = y;
          for (const w of group.workers) {
            lines.push({ w, y, from: run.from[w] / US_PER_S, to: run.to[w] / US_PER_S, paint: colour(group.paint), text: `worker ${w} (cache ${cacheOf(run, w)}): ${ms(run.from[w])} to ${ms(run.to[w])} ms` });
            y += step;
          }
          labels.push({ name: group.name, y: (begin + y) / 2 });
          // So small a group needs room for its label all the same.
          y = Math.round(Math.max(y + gap, begin + 16));
        }
        const height = y;
        const end = Math.max(longest, ...lines.map((line) => line.to * US_PER_S)) / US_PER_S;
        return {
          width: inner, height, autosize: 'none', padding: { left, right, top: 4, bottom: 42 },
          data: [{ name: 'lines', values: lines }, { name: 'labels', values: labels }],
          scales: [{ name: 'x', type: 'linear', domain: [0, end], range: [0, inner], nice: true }],
          axes: [{ scale: 'x', orient: 'bottom', title: 'seconds after the gate opened', grid: true, tickCount: Math.max(2, Math.min(6, Math.floor(inner / 60))) }],
          marks: [
            { type: 'rect', from: { data: 'lines' }, encode: { enter: { x: { scale: 'x', field: 'from' }, x2: { scale: 'x', field: 'to' }, y: { field: 'y' }, height: { value: thick }, fill: { field: 'paint' }, tooltip: { field: 'text' } } } },
            { type: 'text', from: { data: 'labels' }, encode: { enter: { x: { value: -8 }, y: { field: 'y' }, align: { value: 'right' }, baseline: { value: 'middle' }, text: { field: 'name' }, fontSize: { value: 12 }, fill: { value: colour('quiet') } } } },
          ],
        };
      },
    };
  }

  // ---- distribution of cuInit

  function ecdf({ topology }) {
    const curves = data.ecdf.filter((curve) => data.conditions[curve.c].topology === topology);
    const arm = (curve) => data.conditions[curve.c].arm;
    const rank = (curve, i) => Math.ceil(((i + 1) * curve.n) / curve.v.length);
    const at = (curve, percent) => curve.v[Math.max(0, Math.ceil((percent / 100) * curve.v.length) - 1)];
    return {
      label: `${topology}: ` + curves.map((curve) => `${arm(curve)} median ${duration(at(curve, 50))}`).join(', '),
      legend: curves.map((curve) => ({ icon: lineIcon(armColour(arm(curve)), armDash(arm(curve))), text: `${arm(curve)} (${curve.n})` })),
      note: null,
      table: () => {
        const percents = [1, 5, 10, 25, 50, 75, 90, 95, 99, 100];
        return {
          columns: [{ title: 'share of workers' }, ...curves.map((curve) => ({ title: `${arm(curve)} (ms)` }))],
          count: percents.length,
          row: (i) => [`${percents[i]} %`, ...curves.map((curve) => ms(at(curve, percents[i])))],
        };
      },
      spec(width) {
        const left = 52;
        const right = 16;
        const inner = width - left - right;
        const values = [];
        for (const curve of curves) {
          const first = Math.max(1, curve.v[0]);
          values.push({ arm: arm(curve), x: first, p: 0 });
          curve.v.forEach((v, i) => values.push({ arm: arm(curve), x: Math.max(1, v), p: rank(curve, i) / curve.n }));
        }
        const all = values.map((value) => value.x);
        const low = Math.min(...all);
        const high = Math.max(...all);
        const log = high / low > 20;
        const ticks = [];
        if (log) {
          const wide = high / low > 1000;
          for (let decade = 1; decade <= high; decade *= 10) for (const step of wide ? [1] : [1, 3]) ticks.push(decade * step);
        }
        const stroke = Object.fromEntries(curves.map((curve) => [arm(curve), colour(armColour(arm(curve)))]));
        return {
          width: inner, height: 220, autosize: 'none', padding: { left, right, top: 8, bottom: 42 },
          data: [{ name: 'curves', values: values.map((value) => ({ ...value, stroke: stroke[value.arm], dash: armDash(value.arm) })) }],
          scales: [
            log ? { name: 'x', type: 'log', domain: [low / 1.1, high * 1.1], range: [0, inner] } : { name: 'x', type: 'linear', domain: [0, high], range: [0, inner], nice: true },
            { name: 'y', type: 'linear', domain: [0, 1], range: [220, 0] },
          ],
          axes: [
            { scale: 'x', orient: 'bottom', title: 'time of cuInit', grid: true, labelOverlap: true, tickCount: 5,
              ...(log ? { values: ticks.filter((t) => t >= low / 1.1 && t <= high * 1.1) } : {}),
              encode: { labels: { update: { text: { signal: "datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + ' s' : datum.value >= 1e3 ? format(datum.value / 1e3, '~r') + ' ms' : format(datum.value, '~r') + ' µs'" } } } } },
            { scale: 'y', orient: 'left', grid: true, format: '.0%', values: [0, 0.25, 0.5, 0.75, 1] },
          ],
          marks: [{
            type: 'group', from: { facet: { name: 'curve', data: 'curves', groupby: 'arm' } },
            marks: [{ type: 'line', from: { data: 'curve' }, encode: { enter: { x: { scale: 'x', field: 'x' }, y: { scale: 'y', field: 'p' }, interpolate: { value: 'step-after' }, stroke: { field: 'stroke' }, strokeDash: { field: 'dash' }, strokeWidth: { value: 2 } } } }],
          }],
        };
      },
    };
  }

  // ---- wall times

  function walls() {
    const name = (wall) => data.conditions[wall.c].name;
    return {
      label: 'Wall time of each condition: ' + data.wall.map((wall) => `${name(wall)} ${wall.text}`).join(', '),
      legend: [],
      note: null,
      table: () => {
        const rows = data.wall.flatMap((wall) => wall.values.map(([id, value]) => [id, name(wall), value.toFixed(3)]));
        return { columns: [{ title: 'run', text: true }, { title: 'condition', text: true }, { title: 'external wall (s)' }], count: rows.length, row: (i) => rows[i] };
      },
      spec(width) {
        if (data.wall.length === 0) return null;
        const left = 8;
        const right = 16;
        const inner = width - left - right;
        const band = 46;
        const height = band * data.wall.length;
        const end = Math.max(...data.wall.map((wall) => Math.max(wall.high || 0, ...wall.values.map(([, value]) => value))));
        // An interval from two runs can be absurdly wide; it is cut at twice what was seen, with its end open.
        const seen = Math.max(...data.wall.flatMap((wall) => wall.values.map(([, value]) => value)));
        const limit = Math.min(end, 2 * seen);
        const rows = data.wall.map((wall, i) => {
          const native = data.conditions[wall.c].arm === 'native';
          return {
            name: name(wall), text: wall.text, y: i * band, mean: wall.mean, low: wall.low, high: Math.min(limit, wall.high ?? wall.mean),
            stroke: colour(native ? 'arm-0' : armColour(data.conditions[wall.c].arm)), shape: native ? 'circle' : 'diamond', dash: wall.few ? [5, 3] : [1, 0],
          };
        });
        const ticks = data.wall.flatMap((wall, i) => wall.values.map(([id, value]) => ({ x: value, y: i * band, text: `${id}: ${value.toFixed(3)} s` })));
        const label = (field, align, x, paint) => ({ type: 'text', from: { data: 'rows' }, encode: { enter: { x: { value: x }, y: { field: 'y', offset: 13 }, align: { value: align }, baseline: { value: 'middle' }, text: { field }, fontSize: { value: 12.5 }, fill: { value: colour(paint) }, limit: { value: inner * 0.6 } } } });
        return {
          width: inner, height, autosize: 'none', padding: { left, right, top: 0, bottom: 42 },
          data: [{ name: 'rows', values: rows }, { name: 'runs', values: ticks }],
          scales: [{ name: 'x', type: 'linear', domain: [0, limit], range: [0, inner], nice: true }],
          axes: [{ scale: 'x', orient: 'bottom', title: 'external wall time (s)', grid: true, tickCount: Math.max(3, Math.min(8, Math.floor(inner / 70))) }],
          marks: [
            { type: 'rule', from: { data: 'rows' }, encode: { enter: { x: { value: 0 }, x2: { value: inner }, y: { field: 'y' }, stroke: { value: colour('grid') } } } },
            { type: 'rule', from: { data: 'rows' }, encode: { enter: { x: { scale: 'x', field: 'low' }, x2: { scale: 'x', field: 'high' }, y: { field: 'y', offset: 31 }, stroke: { field: 'stroke' }, strokeWidth: { value: 2.5 }, strokeDash: { field: 'dash' }, opacity: { signal: 'datum.low === null ? 0 : 1' } } } },
            { type: 'rule', from: { data: 'runs' }, encode: { enter: { x: { scale: 'x', field: 'x' }, y: { field: 'y', offset: 25 }, y2: { field: 'y', offset: 37 }, stroke: { value: colour('quiet') }, strokeWidth: { value: 1.2 }, tooltip: { field: 'text' } } } },
            { type: 'symbol', from: { data: 'rows' }, encode: { enter: { x: { scale: 'x', field: 'mean' }, y: { field: 'y', offset: 31 }, shape: { field: 'shape' }, size: { value: 120 }, fill: { field: 'stroke' }, stroke: { value: colour('paper') }, strokeWidth: { value: 1.5 } } } },
            label('name', 'left', 0, 'ink'), label('text', 'right', inner, 'quiet'),
          ],
        };
      },
    };
  }

  // ---- growth with the number of workers

  function growth({ one }) {
    const all = data.growth.filter((series) => series.one === one);
    const name = (series) => (one ? series.arm : `${series.arm}, ${series.where}`);
    const paint = (series) => armColour(series.arm);
    // An arm looks as in the other charts, unless its caches of several sizes must be told apart.
    const sizesOfCaches = [...new Set(all.map((series) => series.where))];
    const dashOf = (series) => (sizesOfCaches.length > 1 ? DASHES[sizesOfCaches.indexOf(series.where) % DASHES.length] : armDash(series.arm));
    return {
      label: all.map((series) => `${name(series)}: ` + series.points.map((p) => `${p.n} workers ${digits(p.mean)} s`).join(', ')).join('; '),
      legend: all.map((series) => ({ icon: lineIcon(paint(series), dashOf(series)), text: name(series) })),
      note: null,
      table: () => {
        const rows = all.flatMap((series) => series.points.map((p) => [name(series), p.topology, p.n, digits(p.mean), p.low === null ? '' : `${digits(p.low)} to ${digits(p.high)}`]));
        return { columns: [{ title: 'arm', text: true }, { title: 'topology', text: true }, { title: 'workers' }, { title: 'mean wall (s)' }, { title: '95 % interval' }], count: rows.length, row: (i) => rows[i] };
      },
      spec(width) {
        const left = 74;
        const right = 20;
        const inner = width - left - right;
        const points = all.flatMap((series, i) => series.points.map((p) => ({ ...p, series: i, low: p.low ?? p.mean, high: p.high ?? p.mean, aside: (i - (all.length - 1) / 2) * 5, stroke: colour(paint(series)), dash: dashOf(series), text: `${name(series)}, ${p.topology}: ${digits(p.mean)} s` })));
        // Intervals that are wider than what was seen do not set the scale.
        const means = points.map((p) => p.mean);
        const bottom = Math.max(Math.min(...points.map((p) => p.low)), Math.min(...means) / 2);
        const top = Math.min(Math.max(...points.map((p) => p.high)), Math.max(...means) * 2);
        const sizes = [...new Set(points.map((p) => p.n))].sort((a, b) => a - b);
        const y = { scale: 'y', field: 'mean' };
        // Beside each other, where several were run with as many workers.
        const x = { scale: 'x', field: 'n', offset: { field: 'aside' } };
        const values = [];
        for (let decade = 1e-6; decade <= top * 1.1; decade *= 10) values.push(...[1, 2, 5].map((step) => +(step * decade).toPrecision(1)));
        return {
          width: inner, height: 220, autosize: 'none', padding: { left, right, top: 8, bottom: 42 },
          data: [{ name: 'points', values: points }],
          scales: [
            { name: 'x', type: 'log', domain: [sizes[0] / 1.15, sizes[sizes.length - 1] * 1.15], range: [0, inner] },
            { name: 'y', type: 'log', domain: [bottom / 1.1, top * 1.1], range: [220, 0], clamp: true },
          ],
          axes: [
            { scale: 'x', orient: 'bottom', title: 'workers', values: sizes, format: 'd', grid: true, labelOverlap: true },
            { scale: 'y', orient: 'left', title: 'wall time (s)', grid: true, values: values.filter((v) => v >= bottom / 1.1 && v <= top * 1.1), format: '~r', labelOverlap: true },
          ],
          marks: [
            { type: 'group', from: { facet: { name: 'line', data: 'points', groupby: 'series' } }, marks: [{ type: 'line', from: { data: 'line' }, encode: { enter: { x, y, stroke: { field: 'stroke' }, strokeDash: { field: 'dash' }, strokeWidth: { value: 2 } } } }] },
            { type: 'rule', from: { data: 'points' }, encode: { enter: { x, y: { scale: 'y', field: 'low' }, y2: { scale: 'y', field: 'high' }, stroke: { field: 'stroke' }, strokeWidth: { value: 1.5 } } } },
            { type: 'symbol', from: { data: 'points' }, encode: { enter: { x, y, size: { value: 60 }, fill: { field: 'stroke' }, stroke: { value: colour('paper') }, strokeWidth: { value: 1.5 }, tooltip: { field: 'text' } } } },
          ],
        };
      },
    };
  }

  // ---- which charts there are

  function place(kind, made, none) {
    for (const panels of document.querySelectorAll(`[data-panels="${kind}"]`)) {
      if (made.length === 0) panels.append(element('p', {}, none));
      for (const chart of made) {
        panels.append(chart.figure);
        inView.observe(chart.figure);
      }
    }
  }
  const indices = data.conditions.map((_, i) => i).filter((i) => runsOf(i).length > 0);
  const title = (i) => `${data.conditions[i].name}`;
  place('matrix', indices.filter((i) => data.conditions[i].discovers).map((i) => new Chart('matrix', title(i), runChoices(i), matrix)),
    'No arm of this experiment discovers anything.');
  place('timeline', indices.map((i) => new Chart('timeline', title(i), runChoices(i), timeline)), 'No run is recorded.');
  place('wall', data.wall.length === 0 ? [] : [new Chart('wall', 'External wall time', [{}], walls)], 'No wall time is known.');
  const topologies = [...new Set(data.ecdf.map((curve) => data.conditions[curve.c].topology))];
  place('ecdf', topologies.map((topology) => new Chart('ecdf', topology, [{ topology }], ecdf)), 'No time of cuInit is known.');
  place('growth', [true, false].filter((one) => data.growth.some((series) => series.one === one))
    .map((one) => new Chart('growth', one ? 'One shared cache' : 'Isolated caches', [{ one }], growth)), 'Only one size was run.');
})();
