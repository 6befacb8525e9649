// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Restores the terminal when the program cannot do it in the ordinary way. All functions in this file that
// run in a signal handler are async-signal-safe. The signal handlers of ncurses are not.
#define _GNU_SOURCE 1
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int fatal_signals[] = {
    SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT, SIGSYS};
enum { fatal_count = sizeof fatal_signals / sizeof *fatal_signals };

static struct {
  /// Whether the terminal must be restored. The thread that clears this flag restores the terminal.
  atomic_bool is_armed;
  /// Whether the terminal reports the mouse. The prepared bytes do not contain the end of these reports.
  atomic_bool reports_mouse;
  int descriptor;
  struct termios settings;
  bool has_settings;
  char bytes[512];
  size_t count;
  /// The descriptor that ncurses draws to, and a descriptor of /dev/null, which replaces it when the terminal
  /// is restored. Each is -1 if it does not exist.
  int drawing;
  int null;
  /// The file that replaces descriptor 2, and a copy of the previous descriptor 2. Both are -1 if descriptor
  /// 2 is not replaced.
  int held_errors;
  int errors;
  struct sigaction previous[fatal_count];
  bool is_caught[fatal_count];
} plan = {.drawing = -1, .null = -1, .held_errors = -1, .errors = -1};

/// Appends a capability's bytes without the padding written as $<5>.
static void append(const char *bytes) {
  if (!bytes) {
    return;
  }
  for (const char *at = bytes; *at && plan.count < sizeof plan.bytes; at++) {
    if (at[0] == '$' && at[1] == '<') {
      const char *end = strchr(at, '>');
      if (end) {
        at = end;
        continue;
      }
    }
    plan.bytes[plan.count++] = *at;
  }
}

/// Writes all bytes. If the descriptor is non-blocking and accepts no byte, the function waits up to a
/// second, because the reader may be busy with the previous frame.
static bool write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0 && errno == EAGAIN) {
      struct pollfd entry = {.fd = descriptor, .events = POLLOUT};
      if (poll(&entry, 1, 1000) > 0) {
        continue;
      }
    }
    if (written <= 0) {
      return false;
    }
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

static void hold_errors(int held_errors) {
  plan.held_errors = -1;
  plan.errors = held_errors < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (plan.errors < 0) {
    return;
  }
  if (dup2(held_errors, STDERR_FILENO) < 0) {
    close(plan.errors);
    plan.errors = -1;
    return;
  }
  plan.held_errors = held_errors;
}

static void set_flags(int descriptor, int flags) {
  if (flags >= 0) {
    fcntl(descriptor, F_SETFL, flags);
  }
}

/// Makes a descriptor non-blocking for all its users. Returns its previous flags, or a negative value if they
/// are unknown.
static int forbid_waiting(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  set_flags(descriptor, flags < 0 ? flags : flags | O_NONBLOCK);
  return flags;
}

/// Restores descriptor 2, and prints the text that was written to its replacement. If `may_wait` is false,
/// text that a stopped terminal does not accept is discarded.
static void release_errors(bool may_wait) {
  if (plan.errors < 0) {
    return;
  }
  int flags = may_wait ? -1 : forbid_waiting(plan.errors);
  // Descriptor 2 shares the offset of the file that replaces it, so the offset is the number of bytes that
  // were written.
  off_t end = lseek(plan.held_errors, 0, SEEK_CUR);
  dup2(plan.errors, STDERR_FILENO);
  char block[2048];
  for (off_t at = 0; at < end;) {
    off_t left = end - at;
    size_t wanted = left < (off_t)sizeof block ? (size_t)left : sizeof block;
    ssize_t count = pread(plan.held_errors, block, wanted, at);
    if (count <= 0) {
      break;
    }
    if (!write_all(STDERR_FILENO, block, (size_t)count)) {
      break;
    }
    at += count;
  }
  set_flags(plan.errors, flags);
  close(plan.errors);
  plan.errors = -1;
  plan.held_errors = -1;
}

void cncurses_restore_now(void) {
  if (!atomic_exchange(&plan.is_armed, false)) {
    return;
  }
  // Another thread may be drawing and may continue to draw. Its bytes would appear between the bytes that
  // restore the terminal. A write in progress ends early, because the descriptor no longer blocks.
  if (plan.null >= 0) {
    dup2(plan.null, plan.drawing);
  }
  // A terminal that accepts no bytes, or that belongs to another job, must not block this function.
  int flags = forbid_waiting(plan.descriptor);
  sigset_t background;
  sigset_t mask;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &background, &mask);
  if (atomic_load(&plan.reports_mouse)) {
    write_all(plan.descriptor, CNCURSES_MOUSE_OFF, sizeof CNCURSES_MOUSE_OFF - 1);
  }
  write_all(plan.descriptor, plan.bytes, plan.count);
  if (plan.has_settings) {
    tcsetattr(plan.descriptor, TCSANOW, &plan.settings);
  }
  set_flags(plan.descriptor, flags);
  release_errors(false);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void on_fatal_signal(int number, siginfo_t *information, void *context) {
  int error = errno;
  cncurses_restore_now();
  for (size_t index = 0; index < fatal_count; index++) {
    if (fatal_signals[index] != number) {
      continue;
    }
    struct sigaction *previous = &plan.previous[index];
    sigaction(number, previous, NULL);
    errno = error;
    // The previous handler is called directly. If the signal were raised again instead, Swift's backtracer
    // would not see the place of the fault.
    if (previous->sa_flags & SA_SIGINFO) {
      previous->sa_sigaction(number, information, context);
      return;
    }
  }
  raise(number);
}

static void catch_fatal_signals(void) {
  static char stack[64 * 1024];
  stack_t current;
  if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
    stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&ours, NULL);
  }
  for (size_t index = 0; index < fatal_count; index++) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    struct sigaction *previous = &plan.previous[index];
    plan.is_caught[index] = sigaction(fatal_signals[index], NULL, previous) == 0
                            && ((previous->sa_flags & SA_SIGINFO) || previous->sa_handler != SIG_IGN)
                            && sigaction(fatal_signals[index], &action, NULL) == 0;
  }
}

void cncurses_remember_settings(int descriptor) {
  plan.descriptor = descriptor;
  plan.has_settings = tcgetattr(descriptor, &plan.settings) == 0;
}

void cncurses_prepare_restoring(int drawing, int held_errors, bool brackets_paste) {
  plan.drawing = drawing;
  atomic_store(&plan.reports_mouse, false);
  if (plan.null < 0) {
    plan.null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  }
  plan.count = 0;
  append(brackets_paste ? "\033[?2004l" : NULL);
  append(cncurses_capability("rmkx"));
  append(cncurses_capability("cnorm"));
  append(cncurses_capability("sgr0"));
  append(cncurses_capability("rmcup") ? cncurses_capability("rmcup") : "\r\n");
  hold_errors(held_errors);
  atomic_store(&plan.is_armed, true);
  catch_fatal_signals();
}

void cncurses_note_mouse(bool is_on) { atomic_store(&plan.reports_mouse, is_on); }

void cncurses_end_restoring(void) {
  if (plan.null >= 0) {
    close(plan.null);
    plan.null = -1;
  }
  if (!atomic_exchange(&plan.is_armed, false)) {
    return;
  }
  for (size_t index = 0; index < fatal_count; index++) {
    if (plan.is_caught[index]) {
      sigaction(fatal_signals[index], &plan.previous[index], NULL);
    }
  }
  if (plan.has_settings) {
    tcsetattr(plan.descriptor, TCSANOW, &plan.settings);
  }
  release_errors(true);
}
