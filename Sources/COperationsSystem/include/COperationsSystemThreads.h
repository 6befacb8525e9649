// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Sleeps until woken, unless `*address` is no longer `expected`. May return early for no reason.
/// `timeout_nanoseconds` below zero waits for ever. Returns false once the time is over.
bool csystem_futex_wait(const void *address, uint32_t expected, int64_t timeout_nanoseconds);

/// Wakes at most `count` sleepers on `address`.
void csystem_futex_wake(const void *address, int count);

/// The kernel's id of the calling thread.
int32_t csystem_thread_id(void);

/// A number that the calling thread shares with no other of the process, not even with later ones,
/// as it may its identifiers. Never 0.
uint64_t csystem_thread_number(void);

/// Names the calling thread; the kernel keeps the first 15 bytes.
void csystem_set_thread_name(const char *name);

/// Starts a detached thread. Blocked in it are all signals but SIGPROF and those that the instructions
/// of a thread cause: SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE and SIGSYS. Returns 0, or the error number.
int csystem_start_thread(void (*body)(void *), void *context);

/// The same with a stack of `stack_size` bytes; 0 is the size that the system gives.
int csystem_start_thread_with_stack(void (*body)(void *), void *context, size_t stack_size);

/// How many processors the affinity mask of the process's first thread has. 0 if it is unknown.
int32_t csystem_allowed_processor_count(void);

/// Lets `csystem_is_forked_child` be true in child processes that are forked from now on. Called once.
void csystem_watch_forks(void);

/// Whether this process was forked from one that has watched for that: only the thread that has forked is
/// here. Set before `fork()` returns in the child, when it has one thread.
extern bool csystem_forked_child;
static inline bool csystem_is_forked_child(void) { return csystem_forked_child; }

/// Calls `body`; where that ends the thread instead of returning, calls `ended` on that thread, with
/// nothing left on the stack of what `body` had there.
void csystem_call_to_end_of_thread(
    void (*body)(void *), void (*ended)(void *), void *context);

/// Nanoseconds on the monotonic clock.
int64_t csystem_monotonic_nanoseconds(void);

/// A hint to the processor that this thread spins.
static inline void csystem_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

/// A hint to the processor that both cache lines at this address will soon be used.
static inline void csystem_prefetch_two_lines(const void *address) {
  __builtin_prefetch(address, 1);
  __builtin_prefetch((const char *)address + 64, 1);
}

// One pointer of the calling thread's for each of five users; null in a new thread.
extern _Thread_local void *_Nullable csystem_worker __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_release __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_misuse __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_delivery __attribute__((tls_model("initial-exec")));
extern _Thread_local void *_Nullable csystem_question __attribute__((tls_model("initial-exec")));
static inline void *_Nullable csystem_current_worker(void) { return csystem_worker; }
static inline void csystem_set_current_worker(void *_Nullable worker) { csystem_worker = worker; }
static inline void *_Nullable csystem_current_release(void) { return csystem_release; }
static inline void csystem_set_current_release(void *_Nullable list) { csystem_release = list; }
static inline void *_Nullable csystem_current_misuse(void) { return csystem_misuse; }
static inline void csystem_set_current_misuse(void *_Nullable scope) { csystem_misuse = scope; }
static inline void *_Nullable csystem_current_delivery(void) { return csystem_delivery; }
static inline void csystem_set_current_delivery(void *_Nullable frame) { csystem_delivery = frame; }
static inline void *_Nullable csystem_current_question(void) { return csystem_question; }
static inline void csystem_set_current_question(void *_Nullable frame) { csystem_question = frame; }

// The Swift runtime's own counting functions (docs/Runtime.md of the Swift project), which
// `unowned` and `weak` are made of. Swift has no spelling for "retain unless it is being
// destroyed" that costs no side table.
void *_Nullable swift_tryRetain(void *object);
bool swift_isDeallocating(void *object);
bool swift_isUniquelyReferenced_nonNull_native(void *object);
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);

#pragma clang assume_nonnull end
