// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The numbers of the signals that the monitor and the viewer handle.

/// SIGHUP: the terminal was lost.
extern const int32_t cmonitor_signal_hangup;
/// SIGINT: the user interrupts the process, for example with Ctrl-C.
extern const int32_t cmonitor_signal_interrupt;
/// SIGQUIT: the user quits the process, for example with Ctrl-\.
extern const int32_t cmonitor_signal_quit;
/// SIGTERM: the process is asked to end.
extern const int32_t cmonitor_signal_terminate;
/// SIGKILL: the process ends at once.
extern const int32_t cmonitor_signal_kill;
/// SIGTSTP: the process is asked to stop, for example with Ctrl-Z.
extern const int32_t cmonitor_signal_terminal_stop;
/// SIGCONT: the process was stopped and now continues.
extern const int32_t cmonitor_signal_continue;
/// SIGWINCH: the terminal's size has changed.
extern const int32_t cmonitor_signal_window_change;

/// Ignores SIGPIPE and SIGXFSZ. Therefore a write returns an error if the reader has closed the output, or if the file
/// has reached its size limit.
void cmonitor_ignore_write_signals(void);

/// The set of signals that a thread blocks.
struct cmonitor_signal_mask {
  uint64_t words[16];
};

/// Blocks all signals in the calling thread and in the threads that it starts from now on. Stores the signals that it
/// has blocked before in `old`.
void cmonitor_block_all_signals(struct cmonitor_signal_mask *old);

/// Makes the calling thread block exactly these signals.
void cmonitor_restore_signals(const struct cmonitor_signal_mask *mask);

/// Blocks these signals in the calling thread and in the threads that it starts from now on.
void cmonitor_block_signals(const int32_t *signals, size_t count);

/// Makes the calling thread receive these signals also if they arrive at another thread, which does not block them. The
/// calling thread must block them. A thread of swift-subprocess waits for the ends of processes and blocks no signal in
/// this time. Ignored signals are not affected.
void cmonitor_receive_signals(const int32_t *signals, size_t count);

/// Unblocks these signals in the calling thread.
void cmonitor_unblock_signals(const int32_t *signals, size_t count);

/// Returns whether the process ignores a signal, for example because it was started by nohup(1).
bool cmonitor_is_ignored(int32_t signal);

/// Returns a signalfd of these signals, non-blocking and closed on exec. The signals have to be blocked in every
/// thread.
int32_t cmonitor_signal_descriptor(const int32_t *signals, size_t count);

/// Receives one pending signal from a signalfd, and returns its number; 0 if no signal is pending.
int32_t cmonitor_next_signal(int32_t descriptor);

/// Waits until one of these signals is pending, receives the signal, and returns its number. If `nanoseconds`
/// is not negative, it is a time limit, after which the function returns 0. The signals have to be blocked in
/// every thread. If `is_from_terminal` is not null, it receives whether the kernel has sent the signal to the
/// group of processes in the foreground, for example because the user typed Ctrl-C.
int32_t cmonitor_wait_for_signal(
    const int32_t *signals, size_t count, int64_t nanoseconds,
    bool *_Nullable is_from_terminal);

/// Ends the process by a signal: sets the signal's disposition to the default, and raises it.
_Noreturn void cmonitor_end_by_signal(int32_t signal);

/// Stops the process like a job of a shell, and returns when the process is continued.
void cmonitor_stop(void);

#pragma clang assume_nonnull end
