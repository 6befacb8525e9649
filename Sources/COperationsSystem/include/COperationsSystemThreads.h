// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Makes the calling thread sleep until another thread wakes it, unless `*address` is no longer `expected`.
/// The function may also return early without a reason. If `timeout_nanoseconds` is negative, there is no
/// timeout. Returns false after the timeout; otherwise true.
bool csystem_futex_wait(const void *address, uint32_t expected, int64_t timeout_nanoseconds);

/// Wakes at most `count` threads that sleep on `address`.
void csystem_futex_wake(const void *address, int count);

/// Returns the kernel's id of the calling thread.
int32_t csystem_thread_id(void);

/// Returns whether the calling thread is the first thread of the process.
bool csystem_is_first_thread(void);

/// Returns a number that identifies the calling thread. Unlike the kernel's thread ids, the numbers of ended
/// threads are never used again. The number is never 0.
uint64_t csystem_thread_number(void);

/// Names the calling thread; the kernel keeps the first 15 bytes.
void csystem_set_thread_name(const char *name);

/// Lowers the scheduling priority of the calling thread permanently: raises its nice value by 10, to at most
/// 19. Threads that it starts inherit the priority. Returns false if the system refuses.
bool csystem_lower_thread_priority(void);

/// Returns the nice value of the calling thread, from -20 for the highest scheduling priority to 19.
int csystem_thread_nice_value(void);

/// Whether the calling thread has a lower scheduling priority than the first thread of the process.
bool csystem_thread_has_low_priority(void);

/// Starts a detached thread. The thread blocks all signals except SIGPROF and the signals that a thread's own
/// instructions cause: SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE and SIGSYS. Returns 0, or the error number.
int csystem_start_thread(void (*body)(void *), void *context);

/// Starts a detached thread with a stack of `stack_size` bytes. 0 is the limit of the first thread's stack
/// (`ulimit -s`). If there is no limit, 0 is the default of Glibc, for example 2 MiB on x86-64, and 8 MiB with any
/// other C library.
int csystem_start_thread_with_stack(void (*body)(void *), void *context, size_t stack_size);

/// Returns whether an error number means that an argument, such as a stack size, is not valid.
bool csystem_is_invalid_argument(int error);

/// Returns the number of processors in the affinity mask of the process's first thread; 0 if it is unknown.
int32_t csystem_allowed_processor_count(void);

/// Returns the number of processors that are online; -1 if it is unknown.
int32_t csystem_processor_count(void);

/// Returns the processor time of a thread of this process, in nanoseconds; -1 if the thread has ended.
int64_t csystem_thread_processor_nanoseconds(int32_t thread_id);

/// Makes `csystem_is_forked_child` return true in child processes that are forked from now on. The library
/// calls this function once.
void csystem_watch_forks(void);

/// Whether this process was forked from a process that had called csystem_watch_forks(). In such a process,
/// only the thread that called `fork()` exists. The variable is set before `fork()` returns in the child,
/// when the child has one thread.
extern bool csystem_forked_child;
static inline bool csystem_is_forked_child(void) { return csystem_forked_child; }

/// Whether the calling thread is the only thread of this process; false if that is unknown.
bool csystem_has_one_thread(void);

/// Calls `body`. If `body` ends the thread instead of returning, calls `ended` on that thread. When `ended`
/// is called, the stack frames of `body` no longer exist.
void csystem_call_to_end_of_thread(
    void (*body)(void *), void (*ended)(void *), void *context);

/// Returns the time of the monotonic clock in nanoseconds.
int64_t csystem_monotonic_nanoseconds(void);

/// Returns the time in nanoseconds since the machine was started, including the time for which it has slept.
int64_t csystem_boot_nanoseconds(void);

/// Returns the time of day in nanoseconds since 1970-01-01T00:00:00Z.
int64_t csystem_wall_nanoseconds(void);

/// Lets other threads run, because the caller waits for a short action of another thread. `attempt` is the number of
/// earlier calls for the same wait. After many calls, the calling thread sleeps for 50 microseconds, so that a thread
/// of lower priority runs too.
void csystem_yield(int32_t attempt);

/// Lets other threads use the processor for about 100 microseconds.
void csystem_sleep_shortly(void);

/// Gives the processor a hint that this thread spins.
static inline void csystem_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

/// Gives the processor a hint that the cache line at this address will soon be changed.
static inline void csystem_prefetch_line(const void *address) { __builtin_prefetch(address, 1); }

/// Gives the processor a hint that both cache lines at this address will soon be used.
static inline void csystem_prefetch_two_lines(const void *address) {
  __builtin_prefetch(address, 1);
  __builtin_prefetch((const char *)address + 64, 1);
}

// Six thread-local pointers: to the current worker, to the list of operations to release, and to the
// innermost scopes of the Swift types MisuseScope, Delivery, AsynchronyQuestion and CancellationScope. Each
// pointer is null in a new thread.
extern _Thread_local void *_Nullable csystem_worker __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_release __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_misuse __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_delivery __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_question __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_cancellation __attribute__((tls_model("initial-exec")));
static inline void *_Nullable csystem_current_worker(void) { return csystem_worker; }
static inline void csystem_set_current_worker(void *_Nullable worker) { csystem_worker = worker; }
static inline void *_Nullable csystem_current_release(void) { return csystem_release; }
static inline void csystem_set_current_release(void *_Nullable list) { csystem_release = list; }
static inline void *_Nullable csystem_current_misuse(void) { return csystem_misuse; }
static inline void csystem_set_current_misuse(void *_Nullable scope) { csystem_misuse = scope; }
static inline void *_Nullable csystem_current_delivery(void) { return csystem_delivery; }
static inline void csystem_set_current_delivery(void *_Nullable scope) { csystem_delivery = scope; }
static inline void *_Nullable csystem_current_question(void) { return csystem_question; }
static inline void *_Nullable csystem_current_cancellation(void) { return csystem_cancellation; }
static inline void csystem_set_current_cancellation(void *_Nullable scope) { csystem_cancellation = scope; }
static inline void csystem_set_current_question(void *_Nullable scope) { csystem_question = scope; }

// The Swift runtime's own reference counting functions (docs/Runtime.md of the Swift project), with which
// `unowned` and `weak` are implemented. Without a side table, Swift has no other way to retain an object
// unless it is being destroyed.
void *_Nullable swift_tryRetain(void *object);
bool swift_isDeallocating(void *object);
bool swift_isUniquelyReferenced_nonNull_native(void *object);
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);

#pragma clang assume_nonnull end
