/* Forks before cuInit, as servers do, and calls it in the child and then in the
   parent: two processes, two identities. Prints both PIDs. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : 0;
  if (!init) return 1;
  pid_t child = fork();
  if (child == 0) _exit(init(0));
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 2;
  if (init(0) != 0) return 3;
  printf("%d %d\n", (int)getpid(), (int)child);
  return 0;
}
