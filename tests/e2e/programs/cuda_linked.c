/* Reaches the driver by linking. Prints the CUresult of cuInit. */
#include <stdio.h>

int cuInit(unsigned flags);

int main(void) {
  printf("%d\n", cuInit(0));
  return 0;
}
