/* Asks libhostpid who this process is, and says how it is known or why it is not.
 *
 *   cc whoami.c $(pkg-config --cflags --libs hostpid) -o whoami
 *   ./whoami [BROKER-SOCKET]
 *
 * Where the library was installed under a prefix of its own, PKG_CONFIG_PATH has to lead to
 * PREFIX/lib/pkgconfig and LD_LIBRARY_PATH to PREFIX/lib.
 *
 * Exit status: 0 if the host PID is known, 1 if not.
 */
#include <hostpid/hostpid.h>
#include <stdio.h>

static void tell(const char* what, int pid, int tier, int status, const char* reason) {
  if (status == HOSTPID_OK)
    printf("%s %d (%s)\n", what, pid, hostpid_tier_text(tier));
  else
    printf("%s unknown: %s: %s\n", what, hostpid_status_text(status), hostpid_reason_text(reason));
}

int main(int argc, char** argv) {
  hostpid_options options;
  hostpid_options_init(&options);
  if (argc > 1) {
    options.broker_path = argv[1];
  }
  hostpid_result result;
  hostpid_discover(&options, &result);
  tell("host PID", result.host_pid, result.host_tier, result.host_status, result.host_reason);
  tell("NVML PID", result.nvml_pid, result.nvml_tier, result.nvml_status, result.nvml_reason);
  return result.host_status == HOSTPID_OK ? 0 : 1;
}
