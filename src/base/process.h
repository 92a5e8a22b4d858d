// What the kernel says about a process, read from /proc and pidfds. libc only,
// no allocation: used inside other people's processes too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace rollcall::base {

// The PID namespace that the kernel creates at boot always has this inode
// (PROC_PID_INIT_INO, include/linux/proc_ns.h). A virtual machine or gVisor
// has an initial namespace of its own.
inline constexpr uint64_t kInitialPidNamespaceInode = 4026531836ULL;

// The depth to which PID namespaces can be nested is 32 (MAX_PID_NS_LEVEL,
// kernel/pid_namespace.c), not counting the initial one.
inline constexpr size_t kMaxPidNamespaces = 33;

// pidfd_open(2); -1 with errno.
int open_pidfd(pid_t pid);

// pidfd_send_signal(2); 0, or -1 with errno.
int signal_pidfd(int pidfd, int signal);

// Field 22 of /proc/PID/stat (clock ticks since boot), parsed after the last
// ')' because the command name may hold anything. 0 if it cannot be read: no
// process but the kernel's own starts at tick 0.
uint64_t process_start_time(pid_t pid);

// The same of the calling process, whichever procfs is mounted on /proc.
uint64_t own_start_time();

// The same from the text of a stat file; 0 if malformed.
uint64_t parse_start_time(const char* text, size_t length);

// Field 3 of /proc/PID/stat: 'R', 'S', 'T' (stopped), 't' (traced), 'Z' (dead, not
// reaped), …; 0 if it cannot be read.
char process_state(pid_t pid);

// Inode of /proc/PID/ns/pid; 0 if it cannot be read.
uint64_t pid_namespace_inode(pid_t pid);

// Inode of the caller's own PID namespace; 0 if it cannot be read.
uint64_t own_pid_namespace_inode();

// The PIDs of a process from a "NSpid:" line in the text of /proc/PID/status:
// first its PID in the namespace of the procfs that was read, last its PID in
// its own. Returns how many were found (0: no such line, or malformed), at
// most `capacity`.
size_t parse_nspid(const char* text, size_t length, pid_t* pids, size_t capacity);

// Reads at most `capacity` bytes of a small file; the length, or -1 with errno.
ssize_t read_small_file(const char* path, char* buffer, size_t capacity);

}  // namespace rollcall::base
