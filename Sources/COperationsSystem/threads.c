// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemThreads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The headers of the kernel are not installed with every C library. The numbers are part of the kernel's interface.
#if __has_include(<linux/futex.h>)
#include <linux/futex.h>
#else
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#endif

_Thread_local void *csystem_worker __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_release __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_misuse __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_delivery __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_question __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_cancellation __attribute__((tls_model("initial-exec")));

bool csystem_futex_wait(const void *address, uint32_t expected, int64_t timeout_nanoseconds) {
  struct timespec timeout, *limit = NULL;
  if (timeout_nanoseconds >= 0) {
    timeout.tv_sec = timeout_nanoseconds / 1000000000;
    timeout.tv_nsec = timeout_nanoseconds % 1000000000;
    limit = &timeout;
  }
  long result = syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, expected, limit, NULL, 0);
  return !(result == -1 && errno == ETIMEDOUT);
}

void csystem_futex_wake(const void *address, int count) {
  syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

int32_t csystem_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

bool csystem_is_first_thread(void) { return csystem_thread_id() == getpid(); }

void csystem_yield(int32_t attempt) {
  if (attempt >= 0 && attempt < 64) {
    sched_yield();
  } else {
    csystem_sleep_shortly();
  }
}

void csystem_sleep_shortly(void) {
  const struct timespec pause = {.tv_nsec = 50000};
  nanosleep(&pause, NULL);
}

uint64_t csystem_thread_number(void) {
  static _Atomic uint64_t last;
  static _Thread_local uint64_t own;
  if (own == 0) own = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  return own;
}

bool csystem_lower_thread_priority(void) {
  // On Linux, each thread has a nice value of its own, which a new thread inherits from its creator.
  id_t thread = (id_t)syscall(SYS_gettid);
  errno = 0;
  int now = getpriority(PRIO_PROCESS, thread);
  if (now == -1 && errno != 0) return false;
  int lower = now > 9 ? 19 : now + 10;
  return setpriority(PRIO_PROCESS, thread, lower) == 0;
}

int csystem_thread_nice_value(void) { return getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)); }

bool csystem_thread_has_low_priority(void) {
  // The id of the process is also the id of its first thread.
  return csystem_thread_nice_value() > getpriority(PRIO_PROCESS, (id_t)getpid());
}

void csystem_set_thread_name(const char *name) {
  char shortened[16];
  size_t length = 0;
  while (length < sizeof shortened - 1 && name[length] != '\0') {
    shortened[length] = name[length];
    length += 1;
  }
  shortened[length] = '\0';
  pthread_setname_np(pthread_self(), shortened);
}

struct thread_start {
  void (*body)(void *);
  void *context;
};

static void *run_thread(void *argument) {
  struct thread_start start = *(struct thread_start *)argument;
  free(argument);
  start.body(start.context);
  return NULL;
}

// The signals that a thread's own instructions cause, and the signal of a profiler's timer. If one of them
// were blocked, it would end the process without a call of its handler.
static const int unblocked_signals[] = {SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSYS, SIGPROF};

// Returns the size of a thread's stack for which the program has set no size; 0 if the C library's default is this
// size. The default of musl is 128 KiB, which is too small for the work of many programs.
static size_t default_stack_size(void) {
#if defined(__GLIBC__)
  return 0;
#else
  const size_t usual = 8u << 20;
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return usual;
  return limit.rlim_cur < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : (size_t)limit.rlim_cur;
#endif
}

int csystem_start_thread(void (*body)(void *), void *context) {
  return csystem_start_thread_with_stack(body, context, 0);
}

int csystem_start_thread_with_stack(void (*body)(void *), void *context, size_t stack_size) {
  struct thread_start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  start->body = body;
  start->context = context;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_size == 0) stack_size = default_stack_size();
  int error = stack_size == 0 ? 0 : pthread_attr_setstacksize(&attributes, stack_size);
  if (error == 0) {
    // A new thread inherits the signal mask of its creator. The creator sets the mask, so that no signal can
    // reach the new thread before the mask is in effect.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t index = 0; index < sizeof unblocked_signals / sizeof *unblocked_signals; index++) {
      sigdelset(&blocked, unblocked_signals[index]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    error = pthread_create(&thread, &attributes, run_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) free(start);
  return error;
}

bool csystem_is_invalid_argument(int error) { return error == EINVAL; }

int32_t csystem_allowed_processor_count(void) {
  // The kernel refuses a set that is smaller than the kernel's own set of processors.
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(size);
    if (set == NULL) return 0;
    int result = sched_getaffinity(getpid(), CPU_ALLOC_SIZE(size), set);
    int error = errno;
    int count = result == 0 ? CPU_COUNT_S(CPU_ALLOC_SIZE(size), set) : 0;
    CPU_FREE(set);
    if (result == 0 || error != EINVAL) return count;
  }
  return 0;
}

int32_t csystem_processor_count(void) { return (int32_t)sysconf(_SC_NPROCESSORS_ONLN); }

int64_t csystem_thread_processor_nanoseconds(int32_t thread_id) {
  // The id of a thread's clock contains the inverted id of the thread and three low bits. The low bits select the
  // clock of a single thread, with the time that the scheduler has measured.
  // Source: Linux, `include/linux/posix-timers_types.h`.
  clockid_t clock = (clockid_t)(~(uint32_t)thread_id << 3 | 6);
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool csystem_forked_child;

static void note_child(void) { csystem_forked_child = true; }

void csystem_watch_forks(void) { pthread_atfork(NULL, NULL, note_child); }

bool csystem_has_one_thread(void) {
  struct stat tasks;
  // The directory has one subdirectory for each thread, and two other links.
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

void csystem_call_to_end_of_thread(
    void (*body)(void *), void (*ended)(void *), void *context) {
  pthread_cleanup_push(ended, context);
  body(context);
  pthread_cleanup_pop(0);
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t csystem_monotonic_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t csystem_boot_nanoseconds(void) { return nanoseconds(CLOCK_BOOTTIME); }

int64_t csystem_wall_nanoseconds(void) { return nanoseconds(CLOCK_REALTIME); }
