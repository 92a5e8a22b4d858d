/* libhostpid: a process finds out who it is.
 *
 * A process in a container knows itself by a number that means nothing outside. What
 * shares a GPU among containers needs two others: the PID under which the *host* knows
 * the process, and the PID under which NVML lists it *to itself*. They differ where
 * the driver translates, and neither may be guessed: a wrong identity is worse than
 * none. Every discovery ends in a PID with the tier that proved it, or in a failure
 * that says why.
 *
 * Nothing here makes a GPU context, starts a thread, handles a signal, writes to
 * standard output or error, or ends the process. Needs libc only. Thread-safe: nothing
 * is shared between calls. Fork-safe, with raw clone() too: nothing is remembered from
 * one call to the next, so a child that asks again is told about itself. errno is left
 * as it was. NVML stays started in a process that challenged: nvmlInit is counted, and
 * shutting NVML down is slow where many processes start together.
 *
 *   hostpid_options options;
 *   hostpid_options_init(&options);
 *   hostpid_result result;
 *   hostpid_discover(&options, &result);
 *   if (result.host_status == HOSTPID_OK) use(result.host_pid);
 *   else explain(hostpid_reason_text(result.host_reason));
 *
 * docs/identity.md has the reasoning behind each tier, and how a preload library that
 * shares GPUs should use this one.
 */
#ifndef HOSTPID_HOSTPID_H
#define HOSTPID_HOSTPID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface of this header. Within a major version nothing is taken away and neither
 * struct changes its size: what comes later takes the place of reserved fields. */
#define HOSTPID_API_MAJOR 1
#define HOSTPID_API_MINOR 0

#if defined(__GNUC__) && !defined(HOSTPID_STATIC)
#define HOSTPID_API __attribute__((visibility("default")))
#else
#define HOSTPID_API
#endif

/* How a discovery ended. Values never change their meaning. */
typedef enum hostpid_status {
  HOSTPID_OK = 0, /* of the whole: both PIDs are known */
  /* No allowed tier applies here: for example a process in a PID namespace of its own,
   * without a broker, before its first context. Asking again later may work. */
  HOSTPID_UNAVAILABLE = 1,
  /* A tier ran and its answer was not certain. Asking again may work. */
  HOSTPID_AMBIGUOUS = 2,
  HOSTPID_TIMEOUT = 3,     /* the deadline passed */
  HOSTPID_UNSUPPORTED = 4, /* this driver, device or kernel cannot answer; asking again will not help */
  HOSTPID_DENIED = 5,      /* the broker may not be trusted, or refused */
  HOSTPID_INVALID = 6,     /* the options are not valid */
  HOSTPID_PARTIAL = 7      /* of the whole: one PID is known, the other is not */
} hostpid_status;

/* What proved a PID. As bits they say which tiers are allowed. */
typedef enum hostpid_tier {
  HOSTPID_TIER_NONE = 0,
  HOSTPID_TIER_INITIAL_NAMESPACE = 1, /* the own PID namespace is the kernel's first */
  HOSTPID_TIER_BROKER = 2,            /* the node's broker read it from the kernel */
  HOSTPID_TIER_CHALLENGE = 4          /* memory allocated and freed, as seen in NVML's list */
} hostpid_tier;
#define HOSTPID_ALL_TIERS 7u

/* How NVML numbers processes on this node. */
typedef enum hostpid_nvml_view {
  HOSTPID_VIEW_UNKNOWN = 0,
  HOSTPID_VIEW_GLOBAL = 1,    /* by the initial PID namespace, for everybody */
  HOSTPID_VIEW_TRANSLATED = 2 /* by the namespace of the caller */
} hostpid_nvml_view;

/* Looks up a function of the CUDA driver ("cuMemAlloc_v2") or of NVML ("nvmlInit_v2");
 * NULL if there is none. A preload library gives one that goes past its own hooks. */
typedef void* (*hostpid_lookup)(void* data, const char* name);

typedef struct hostpid_options {
  uint32_t size_bytes;    /* sizeof(hostpid_options), set by hostpid_options_init */
  uint32_t tiers_allowed; /* bits of hostpid_tier; all by default. The challenge also needs `context` */
  /* For everything together; 500 by default, at most 60000. A challenge among many
   * processes that are still making their contexts takes seconds: give it 10000. */
  uint32_t deadline_ms;

  /* The broker's socket; NULL (the default): no broker is asked. */
  const char* broker_path;
  /* Who, beside root, may own the socket and its directory and run the broker: 0, nobody,
   * by default. As seen from the caller's user namespace. */
  uint32_t broker_uid;

  /* For the challenge: a context of the calling process on the device in question, as
   * cuCtxCreate or cuDevicePrimaryCtxRetain gave it; NULL (the default): no challenge.
   * It is made current for the time of the challenge; the stack of the calling thread
   * is then as it was. */
  void* context;
  /* How to find driver functions; NULL: dlsym in libcuda.so.1 and libnvidia-ml.so.1. */
  hostpid_lookup lookup;
  void* lookup_data;
  /* How NVML numbers processes, where the caller knows (from an earlier result); only
   * with HOSTPID_VIEW_GLOBAL does a challenge prove the host PID, too. */
  uint32_t nvml_view;   /* hostpid_nvml_view */
  uint32_t reserved[7]; /* 0 */
} hostpid_options;

typedef struct hostpid_result {
  int32_t status;      /* hostpid_status: OK, PARTIAL, or why neither PID is known (as host_status) */
  int32_t host_pid;    /* > 0, or 0: not known */
  int32_t host_status; /* hostpid_status of that PID */
  int32_t host_tier;   /* hostpid_tier that proved it, or NONE */
  int32_t nvml_pid;    /* > 0, or 0: not known */
  int32_t nvml_status;
  int32_t nvml_tier;
  int32_t nvml_view;  /* hostpid_nvml_view as the broker told it; UNKNOWN otherwise */
  int32_t rounds;     /* of the challenge; 0: it did not run */
  int64_t elapsed_ns; /* of the whole call, CLOCK_MONOTONIC */
  /* Why a PID is not known, for a person and for a table: a short word such as
   * "no_broker" (hostpid_reason_text has the sentence). "" where it is known. Static. */
  const char* host_reason;
  const char* nvml_reason;
  uint32_t reserved[8]; /* 0 */
} hostpid_result;

/* Sets the defaults. */
HOSTPID_API void hostpid_options_init(hostpid_options* options);

/* Discovers what it can within the deadline; `options` may be NULL for the defaults.
 * Fills the whole result in any case, and returns result->status. HOSTPID_INVALID, with
 * nothing known, for options that are not valid (size, unknown bits, deadline). */
HOSTPID_API hostpid_status hostpid_discover(const hostpid_options* options, hostpid_result* result);

/* "ok", "unavailable", …; "unknown" for other values. Static. */
HOSTPID_API const char* hostpid_status_text(int status);
/* "initial-namespace", "broker", "challenge", "" for NONE; "unknown" otherwise. Static. */
HOSTPID_API const char* hostpid_tier_text(int tier);
/* The sentence behind a reason, for a person: what was found and what to do. Static. */
HOSTPID_API const char* hostpid_reason_text(const char* reason);

/* HOSTPID_API_MAJOR * 1000 + HOSTPID_API_MINOR of the library that was loaded. */
HOSTPID_API int hostpid_api_version(void);

#ifdef __cplusplus
}
#endif
#endif
