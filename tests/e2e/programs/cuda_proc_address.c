/* Reaches cuInit through cuGetProcAddress: "1" the first form, "2" the second,
   "self" the second form obtained from the first, as the runtime library does. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*first_form)(const char*, void**, int, uint64_t);
typedef int (*second_form)(const char*, void**, int, uint64_t, int*);

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "1";
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return 1;
  first_form first = (first_form)dlsym(driver, "cuGetProcAddress");
  second_form second = (second_form)dlsym(driver, "cuGetProcAddress_v2");
  void* address = 0;
  int query = -1;
  if (strcmp(way, "self") == 0) {
    if (!first || first("cuGetProcAddress", (void**)&second, 12000, 0) != 0) return 2;
    way = "2";
  }
  int result = strcmp(way, "1") == 0 ? first("cuInit", &address, 11030, 0)
                                     : second("cuInit", &address, 12000, 0, &query);
  if (result != 0 || !address) return 3;
  int (*init)(unsigned);
  memcpy(&init, &address, sizeof init);
  printf("%d\n", init(0));
  return 0;
}
