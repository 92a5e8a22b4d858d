/* A preload library such as somebody else would have written: another way into
   cuInit, another file format, other log lines. With it the tests see whether a
   stranger is treated as well as our own shim, and which harm it can do.

   It stands in front of cuInit for programs that look it up with dlsym. After the
   driver's cuInit it says in the log who the process is,
     foreign[<own pid>]: I am <pid>
     foreign[<own pid>]: gave up (<why>)
   and writes the same into the file that FOREIGN_SHIM_CACHE names: "FRGN", a
   version, and a record of two int32 (own pid, answer or 0) for each process.

   FOREIGN_SHIM_MODE chooses how it answers:
     (unset)        its own getpid(), which is right in the host's namespace
     snapshot       the first process that NVML lists after it made a context and
                    not before, under a lock on the cache: wrong across caches
     wrong          getpid() + 100000
     fail           it gives up
     silent         it says and writes nothing
     grow           right, and from then on a thread makes the cache grow
     hami           right, in a cache with the layout of HAMi-core's region 1.2
     hami-version, hami-truncated, hami-grow
                    the same of version 9.9; ending in the middle; growing on
   or what goes wrong:
     hang, exit     in cuInit: for ever; with status 7
     close          in cuInit it closes every descriptor from 3 to 1023
     close-early    the same before main
     crash-in-load  it dies of a signal before main
     hang-in-load   main is never reached
   or how it reaches beyond its process, after it was right:
     cut-board      it cuts the file of descriptor 3 to nothing
     daemon         it leaves a process in a session of its own
     replace-log    it puts a link in place of the file that it logs to
     link-cache     its cache is a link to a file of the system */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { kMaxListed = 4096, kGrowStepBytes = 4096, kGrowSteps = 16384, kGrowPauseUs = 500 };

typedef void* (*DlsymFunction)(void*, const char*);
typedef int (*InitFunction)(unsigned);

static DlsymFunction g_dlsym;
static InitFunction g_init;

static int mode_is(const char* name) {
  const char* mode = getenv("FOREIGN_SHIM_MODE");
  return mode && strcmp(mode, name) == 0;
}

static void close_all(void) {
  for (int fd = 3; fd <= 1023; ++fd) close(fd);
}

/* One write, so that the lines of many processes do not mix. */
static void log_line(const char* what, long number, const char* end) {
  char line[128];
  int size = number ? snprintf(line, sizeof line, "foreign[%d]: %s%ld%s\n", (int)getpid(), what, number, end)
                    : snprintf(line, sizeof line, "foreign[%d]: %s%s\n", (int)getpid(), what, end);
  if (write(2, line, (size_t)size) != size) errno = 0; /* nobody to tell */
}

/* ---- the cache ---- */

static int open_cache(void) {
  const char* path = getenv("FOREIGN_SHIM_CACHE");
  return path ? open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}

static void write_record(int cache, int32_t answer) {
  const char header[8] = {'F', 'R', 'G', 'N', 1, 0, 0, 0};
  const int32_t record[2] = {(int32_t)getpid(), answer};
  if (lseek(cache, 0, SEEK_END) == 0 && write(cache, header, sizeof header) != (ssize_t)sizeof header) return;
  if (write(cache, record, sizeof record) != (ssize_t)sizeof record) errno = 0;
}

/* Not without end: a test that fails must not fill the disk. */
static void* grow(void* unused) {
  static const char zeros[kGrowStepBytes];
  int cache = open_cache();
  for (int step = 0; cache >= 0 && step < kGrowSteps; ++step) {
    if (write(cache, zeros, sizeof zeros) < 0) break;
    usleep(kGrowPauseUs);
  }
  return unused;
}

/* ---- a cache in another's format ---- */

enum { kHamiBytes = 2008953, kHamiSlots = 1024, kHamiFirstSlot = 1856, kHamiSlotBytes = 1960 };

/* Called under the lock of the cache. */
static void write_hami(int32_t answer) {
  const char* path = getenv("FOREIGN_SHIM_CACHE");
  int cache = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  const int32_t header[3] = {19920718, mode_is("hami-version") ? 9 : 1, mode_is("hami-version") ? 9 : 2};
  int32_t slot[2] = {0, 0};
  long offset = kHamiFirstSlot;
  if (cache < 0 || ftruncate(cache, mode_is("hami-truncated") ? 5000 : kHamiBytes) != 0) return;
  while (pread(cache, slot, sizeof slot, offset) == (ssize_t)sizeof slot && slot[0] != 0)
    offset += kHamiSlotBytes;
  slot[0] = (int32_t)getpid();
  slot[1] = answer;
  if (pwrite(cache, slot, sizeof slot, offset) < 0 || pwrite(cache, header, sizeof header, 0) < 0) errno = 0;
  close(cache);
}

/* ---- discovery by difference ---- */

typedef struct {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
} Process;
typedef struct {
  unsigned count;
  Process processes[kMaxListed];
} List;

typedef struct {
  int (*list)(void*, unsigned*, Process*);
  void* device;
} Nvml;

static int open_nvml(Nvml* nvml) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!library) return 0;
  int (*init)(void) = (int (*)(void))g_dlsym(library, "nvmlInit_v2");
  int (*by_index)(unsigned, void**) =
      (int (*)(unsigned, void**))g_dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
  nvml->list =
      (int (*)(void*, unsigned*, Process*))g_dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
  return init && by_index && nvml->list && init() == 0 && by_index(0, &nvml->device) == 0;
}

static int take_list(const Nvml* nvml, List* list) {
  list->count = kMaxListed;
  return nvml->list(nvml->device, &list->count, list->processes) == 0;
}

static unsigned first_new(const List* before, const List* after) {
  for (unsigned i = 0; i < after->count; ++i) {
    unsigned known = 0;
    while (known < before->count && before->processes[known].pid != after->processes[i].pid) ++known;
    if (known == before->count) return after->processes[i].pid;
  }
  return 0;
}

static unsigned discover_by_snapshot(void) {
  static List before, after;
  Nvml nvml;
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda || !open_nvml(&nvml)) return 0;
  int (*retain)(void**, int) = (int (*)(void**, int))g_dlsym(cuda, "cuDevicePrimaryCtxRetain");
  int (*release)(int) = (int (*)(int))g_dlsym(cuda, "cuDevicePrimaryCtxRelease_v2");
  void* context;
  if (!retain || !release || !take_list(&nvml, &before) || retain(&context, 0) != 0) return 0;
  unsigned found = take_list(&nvml, &after) ? first_new(&before, &after) : 0;
  release(0);
  return found;
}

/* ---- mischief ---- */

static void leave_daemon(void) {
  if (fork() != 0) return;
  setsid();
  for (int second = 0; second < 60; ++second) sleep(1); /* not for ever: a test could fail */
  _exit(0);
}

static void replace_log(void) {
  char path[4096];
  ssize_t size = readlink("/proc/self/fd/2", path, sizeof path - 1);
  if (size <= 0) return;
  path[size] = 0;
  unlink(path);
  if (symlink("/etc/hostname", path) != 0) errno = 0; /* the other worker was faster */
}

static void link_cache(void) {
  const char* path = getenv("FOREIGN_SHIM_CACHE");
  if (!path) return;
  unlink(path);
  if (symlink("/etc/hostname", path) != 0) errno = 0;
}

static void do_mischief(void) {
  if (mode_is("cut-board") && ftruncate(3, 0) != 0) errno = 0;
  if (mode_is("daemon")) leave_daemon();
  if (mode_is("link-cache")) link_cache();
}

/* ---- the hooks ---- */

static void discover(void) {
  if (mode_is("silent")) return;
  int cache = open_cache();
  if (cache >= 0) flock(cache, LOCK_EX);
  long answer = getpid();
  if (mode_is("wrong")) answer += 100000;
  if (mode_is("fail")) answer = 0;
  if (mode_is("snapshot")) answer = (long)discover_by_snapshot();
  const char* mode = getenv("FOREIGN_SHIM_MODE");
  const int as_hami = mode && strncmp(mode, "hami", 4) == 0;
  if (answer) {
    log_line("I am ", answer, "");
  } else {
    log_line("gave up ", 0, mode_is("snapshot") ? "(nobody new)" : "(told to)");
  }
  if (cache >= 0) {
    if (as_hami) {
      write_hami((int32_t)answer);
    } else {
      write_record(cache, (int32_t)answer);
    }
    close(cache); /* and with it the lock */
  }
  do_mischief();
  pthread_t thread;
  if ((mode_is("grow") || mode_is("hami-grow")) && pthread_create(&thread, NULL, grow, NULL) == 0)
    pthread_detach(thread);
}

static int hooked_init(unsigned flags) {
  static atomic_flag discovered = ATOMIC_FLAG_INIT;
  if (mode_is("exit")) exit(7);
  if (mode_is("replace-log")) replace_log();
  if (mode_is("close")) close_all();
  while (mode_is("hang")) pause();
  int result = g_init(flags);
  if (result == 0 && !atomic_flag_test_and_set(&discovered)) discover();
  return result;
}

static void find_real_dlsym(void) {
  static const char* const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
  for (size_t i = 0; !g_dlsym && i < sizeof versions / sizeof *versions; ++i) {
    g_dlsym = (DlsymFunction)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  if (!g_dlsym) abort();
}

/* A look-up with RTLD_NEXT is answered as if this library had asked, which is what
   simple shims do. */
__attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  if (!g_dlsym) find_real_dlsym();
  void* found = g_dlsym(handle, name);
  if (!found || strcmp(name, "cuInit") != 0) return found;
  g_init = (InitFunction)found;
  return (void*)hooked_init;
}

__attribute__((constructor)) static void load(void) {
  if (mode_is("close-early")) close_all();
  while (mode_is("hang-in-load")) pause();
  if (mode_is("crash-in-load")) {
    volatile int* volatile nowhere = NULL;
    *nowhere = 1;
  }
}
