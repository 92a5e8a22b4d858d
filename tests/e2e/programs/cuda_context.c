/* Makes contexts as the arguments say, one after the other, and holds them:
     retain           cuDevicePrimaryCtxRetain by dlsym
     create:V         cuCtxCreate_vV by dlsym (2, 3, 4)
     proc:V           cuCtxCreate by cuGetProcAddress for CUDA version V
     proc-retain      cuDevicePrimaryCtxRetain by cuGetProcAddress
     loop:N           N contexts, each made by cuCtxCreate_v2 and destroyed
     fork             goes on in a child, and waits for it
     namespace        the same in a child that begins a PID namespace (needs the right to)
   After each it checks that the context that is current is the one that CUDA says it should
   be, whatever stood in between. Prints its PID and at the end "ok". */
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void* context;
static void* driver;

static void* find(const char* name) {
  void* function = dlsym(driver, name);
  if (!function) {
    fprintf(stderr, "no %s\n", name);
    exit(2);
  }
  return function;
}

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(3);
}

static context current(void) {
  int (*get)(context*) = (int (*)(context*))find("cuCtxGetCurrent");
  context found = 0;
  expect(get(&found) == 0, "cuCtxGetCurrent");
  return found;
}

static void* by_address(const char* name, int version) {
  int (*get)(const char*, void**, int, uint64_t, int*) =
      (int (*)(const char*, void**, int, uint64_t, int*))find("cuGetProcAddress_v2");
  void* function = 0;
  int status = -1;
  expect(get(name, &function, version, 0, &status) == 0 && function, name);
  return function;
}

static void create(void* function, int form) {
  context made = 0;
  int result = 1;
  if (form <= 2) result = ((int (*)(context*, unsigned, int))function)(&made, 0, 0);
  if (form == 3) result = ((int (*)(context*, void*, int, unsigned, int))function)(&made, 0, 0, 0, 0);
  if (form == 4) result = ((int (*)(context*, void*, unsigned, int))function)(&made, 0, 0, 0);
  expect(result == 0 && made, "a context was created");
  expect(current() == made, "the created context is current");
}

static void retain(void* function) {
  context before = current();
  context made = 0;
  expect(((int (*)(context*, int))function)(&made, 0) == 0 && made, "the primary context was retained");
  expect(current() == before, "retaining changes nothing of what is current");
}

static void loop(int times) {
  int (*destroy)(context) = (int (*)(context))find("cuCtxDestroy_v2");
  for (int i = 0; i < times; ++i) {
    create(find("cuCtxCreate_v2"), 2);
    expect(destroy(current()) == 0, "the context was destroyed");
  }
}

/* Raw, as runtimes of containers do it: no handler of the C library is called. */
static int go_on_in_child(int flags) {
  long child = syscall(SYS_clone, (unsigned long)(flags | SIGCHLD), 0, 0, 0, 0);
  if (child < 0) exit(77);
  if (child == 0) return 1;
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
}

int main(int argc, char** argv) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return 2;
  int initialised = 0;
  for (int i = 1; i < argc; ++i) {
    const char* colon = strchr(argv[i], ':');
    int number = colon ? atoi(colon + 1) : 0;
    if (strcmp(argv[i], "fork") == 0 || strcmp(argv[i], "namespace") == 0) {
      go_on_in_child(argv[i][0] == 'n' ? CLONE_NEWPID : 0);
      initialised = 0;
      continue;
    }
    if (!initialised) {
      expect(((int (*)(unsigned))find("cuInit"))(0) == 0, "cuInit");
      initialised = 1;
    }
    if (strcmp(argv[i], "init") == 0) continue;
    if (strcmp(argv[i], "retain") == 0)
      retain(find("cuDevicePrimaryCtxRetain"));
    else if (strcmp(argv[i], "proc-retain") == 0)
      retain(by_address("cuDevicePrimaryCtxRetain", 7000));
    else if (strncmp(argv[i], "create:", 7) == 0) {
      char name[32];
      snprintf(name, sizeof name, "cuCtxCreate_v%d", number);
      create(find(name), number);
    } else if (strncmp(argv[i], "proc:", 5) == 0)
      create(by_address("cuCtxCreate", number), number >= 12050 ? 4 : number >= 11040 ? 3 : 2);
    else if (strncmp(argv[i], "loop:", 5) == 0)
      loop(number);
    else
      return 2;
  }
  printf("%d\nok\n", (int)syscall(SYS_getpid));
  return 0;
}
