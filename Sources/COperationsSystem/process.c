// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemProcess.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

// Declarations from libdispatch (dispatch/queue.h). Every program that uses the library links libdispatch.
// Swift's `DispatchSpecificKey` cannot be used: its key is the address of an object. If the program frees a
// key object too early, another key object may get the same address and be mistaken for the first one.
struct dispatch_queue_s;
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_queue_set_specific(
    struct dispatch_queue_s *queue, const void *key, void *context, void (*destructor)(void *));
extern void *dispatch_get_specific(const void *key);

static char mark;

static void mark_main_queue(void) {
  dispatch_queue_set_specific(&_dispatch_main_q, &mark, &mark, NULL);
}

bool csystem_is_on_main_dispatch_queue(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, mark_main_queue);
  return dispatch_get_specific(&mark) != NULL;
}

int32_t csystem_process_id(void) { return getpid(); }

const char *csystem_secure_environment(const char *name) { return secure_getenv(name); }

// The monitor defines this function. If the monitor is not linked, its address is null.
extern bool opq_monitor_prepare(void) __attribute__((weak));

bool csystem_offer_monitor(void) { return !opq_monitor_prepare || opq_monitor_prepare(); }

int csystem_open_to_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

intptr_t csystem_read(int file, void *buffer, size_t capacity) { return read(file, buffer, capacity); }

void csystem_close(int file) { close(file); }

void csystem_write_to_standard_error(const void *bytes, size_t count) {
  if (write(STDERR_FILENO, bytes, count) < 0) return;
}
