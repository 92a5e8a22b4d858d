/* Reaches the driver by dlopen and dlsym. Prints the CUresult of cuInit, and
   that of a second call, which must not discover again. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : 0;
  if (!init) {
    printf("%s\n", dlerror());
    return 1;
  }
  /* A name that no library has must still be not found, and dlerror must say so. */
  if (dlsym(driver, "cuNoSuchFunction") || !dlerror()) return 2;
  /* The next fopen after this program is the C library's, as without a shim. */
  if (dlsym(RTLD_NEXT, "fopen") != dlsym(RTLD_DEFAULT, "fopen")) return 3;
  printf("%d\n", init(0));
  printf("%d\n", init(0));
  return 0;
}
