/* A preload library built against something that is not there: the dynamic loader
   finds out only when its constructor calls, and ends the process before main. */
void foreign_function_that_nobody_has(void);

__attribute__((constructor)) static void load(void) {
  foreign_function_that_nobody_has();
}
