// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemSignals.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const int32_t cmonitor_signal_hangup = SIGHUP;
const int32_t cmonitor_signal_interrupt = SIGINT;
const int32_t cmonitor_signal_quit = SIGQUIT;
const int32_t cmonitor_signal_terminate = SIGTERM;
const int32_t cmonitor_signal_kill = SIGKILL;
const int32_t cmonitor_signal_terminal_stop = SIGTSTP;
const int32_t cmonitor_signal_continue = SIGCONT;
const int32_t cmonitor_signal_window_change = SIGWINCH;

static sigset_t set_of(const int32_t *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t index = 0; index < count; index++) {
    sigaddset(&set, signals[index]);
  }
  return set;
}

void cmonitor_ignore_write_signals(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

_Static_assert(sizeof(struct cmonitor_signal_mask) >= sizeof(sigset_t), "the size of a signal mask");

void cmonitor_block_all_signals(struct cmonitor_signal_mask *old) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  memcpy(old, &before, sizeof before);
}

void cmonitor_restore_signals(const struct cmonitor_signal_mask *mask) {
  sigset_t signals;
  memcpy(&signals, mask, sizeof signals);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void cmonitor_block_signals(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// The thread that receives each signal.
static _Atomic pid_t receivers[NSIG];

// Passes a signal on to the thread that receives it. A thread cannot send another thread a signal with the code of the
// kernel, so the value of the new signal says whether the signal came from the terminal.
static void pass_on(int number, siginfo_t *facts, void *context) {
  (void)context;
  int error = errno;
  siginfo_t passed = {.si_signo = number, .si_code = SI_QUEUE};
  passed.si_pid = getpid();
  passed.si_uid = getuid();
  passed.si_value.sival_int = facts->si_code == SI_KERNEL;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), receivers[number], number, &passed);
  errno = error;
}

void cmonitor_receive_signals(const int32_t *signals, size_t count) {
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(&action.sa_mask);
  for (size_t index = 0; index < count; index++) {
    if (cmonitor_is_ignored(signals[index])) continue;
    receivers[signals[index]] = (pid_t)syscall(SYS_gettid);
    sigaction(signals[index], &action, NULL);
  }
}

void cmonitor_unblock_signals(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool cmonitor_is_ignored(int32_t signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0
         && action.sa_handler == SIG_IGN;
}

int32_t cmonitor_signal_descriptor(const int32_t *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  int descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  return descriptor >= 0 ? descriptor : -errno;
}

int32_t cmonitor_next_signal(int32_t descriptor) {
  struct signalfd_siginfo information;
  ssize_t count;
  do {
    count = read(descriptor, &information, sizeof information);
  } while (count < 0 && errno == EINTR);
  return count == (ssize_t)sizeof information ? (int32_t)information.ssi_signo : 0;
}

int32_t cmonitor_wait_for_signal(
    const int32_t *signals, size_t count, int64_t nanoseconds, bool *is_from_terminal) {
  sigset_t set = set_of(signals, count);
  struct timespec limit = {
      .tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  for (;;) {
    siginfo_t facts;
    int result = nanoseconds < 0 ? sigwaitinfo(&set, &facts) : sigtimedwait(&set, &facts, &limit);
    if (result > 0) {
      if (is_from_terminal != NULL) {
        bool is_passed_on = facts.si_code == SI_QUEUE && facts.si_pid == getpid();
        *is_from_terminal =
            facts.si_code == SI_KERNEL || (is_passed_on && facts.si_value.sival_int == 1);
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

_Noreturn void cmonitor_end_by_signal(int32_t number) {
  // The signal is not a fault of this program, so the program writes no core file.
  setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
  signal(number, SIG_DFL);
  cmonitor_unblock_signals(&number, 1);
  raise(number);
  _exit(128 + number);
}

// raise() sends the signal to the calling thread. In a process with several threads, kill(getpid(), SIGSTOP)
// may return before the process stops, and the caller would draw on a terminal that belongs to another
// program.
void cmonitor_stop(void) { raise(SIGSTOP); }
