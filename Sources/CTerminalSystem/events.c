// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CTerminalSystem.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static sigset_t set_of(const int32_t *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t index = 0; index < count; index++) {
    sigaddset(&set, signals[index]);
  }
  return set;
}

int cterminal_event_descriptor(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int cterminal_memory_descriptor(const char *name, size_t limit) {
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) {
    return -1;
  }
  // The file gets its maximum size first, and is then sealed so that it cannot grow. Pages that were never
  // written use no memory.
  if (ftruncate(descriptor, (off_t)limit) != 0
      || fcntl(descriptor, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

void cterminal_block_signals(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void cterminal_unblock_signals(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool cterminal_is_ignored(int32_t signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0
         && action.sa_handler == SIG_IGN;
}

int cterminal_signal_descriptor(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int32_t cterminal_next_signal(int descriptor) {
  struct signalfd_siginfo information;
  ssize_t count;
  do {
    count = read(descriptor, &information, sizeof information);
  } while (count < 0 && errno == EINTR);
  return count == (ssize_t)sizeof information ? (int32_t)information.ssi_signo : 0;
}

int32_t cterminal_wait_for_signal(
    const int32_t *signals, size_t count, int64_t nanoseconds, bool *is_from_terminal) {
  sigset_t set = set_of(signals, count);
  struct timespec limit = {
      .tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  for (;;) {
    siginfo_t facts;
    int result = nanoseconds < 0 ? sigwaitinfo(&set, &facts) : sigtimedwait(&set, &facts, &limit);
    if (result > 0) {
      if (is_from_terminal != NULL) {
        *is_from_terminal = facts.si_code == SI_KERNEL;
      }
      return result;
    }
    // If a signal interrupts the wait, the time limit starts again. This is rare, and the limit is only a
    // last resort.
    if (errno != EINTR) {
      return 0;
    }
  }
}

_Noreturn void cterminal_end_by_signal(int32_t number) {
  // The signal is not a fault of this program, so the program writes no core file.
  setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
  signal(number, SIG_DFL);
  cterminal_unblock_signals(&number, 1);
  raise(number);
  _exit(128 + number);
}

// raise() sends the signal to the calling thread. In a process with several threads, kill(getpid(), SIGSTOP)
// may return before the process stops, and the caller would draw on a terminal that belongs to another
// program.
void cterminal_stop(void) { raise(SIGSTOP); }

int cterminal_character_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }
