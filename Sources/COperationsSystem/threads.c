// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemThreads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local void *csystem_worker __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_release __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_misuse __attribute__((tls_model("initial-exec")));
_Thread_local void *csystem_delivery __attribute__((tls_model("initial-exec")));

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

uint64_t csystem_thread_number(void) {
  static _Atomic uint64_t last;
  static _Thread_local uint64_t own;
  if (own == 0) own = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  return own;
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

int csystem_start_thread(void (*body)(void *), void *context) {
  struct thread_start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  start->body = body;
  start->context = context;
  // A new thread takes over its creator's mask: blocked here, no signal can reach it between.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run_thread, start);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0) free(start);
  return error;
}

void csystem_call_to_end_of_thread(
    void (*body)(void *), void (*ended)(void *), void *context) {
  pthread_cleanup_push(ended, context);
  body(context);
  pthread_cleanup_pop(0);
}

int64_t csystem_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
