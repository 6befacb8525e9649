// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Descriptors, signals and character widths for a terminal program: functions that Glibc's Swift module does
// not import.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns a new eventfd, non-blocking and closed on exec; -1 with errno on failure.
int cterminal_event_descriptor(void);

/// Returns a new file in memory that holds at most `limit` bytes. The file is closed on exec. A write beyond
/// the limit fails. The file's offset starts at zero. Returns -1 with errno on failure.
int cterminal_memory_descriptor(const char *name, size_t limit);

/// Blocks these signals in the calling thread and in the threads that it starts from now on.
void cterminal_block_signals(const int32_t *signals, size_t count);

/// Unblocks these signals in the calling thread.
void cterminal_unblock_signals(const int32_t *signals, size_t count);

/// Returns whether the process ignores a signal, for example because it was started by nohup(1).
bool cterminal_is_ignored(int32_t signal);

/// Returns a signalfd of these signals, non-blocking and closed on exec; -1 with errno on failure. The
/// signals have to be blocked in every thread.
int cterminal_signal_descriptor(const int32_t *signals, size_t count);

/// Receives one pending signal from a signalfd, and returns its number; 0 if no signal is pending.
int32_t cterminal_next_signal(int descriptor);

/// Waits until one of these signals is pending, receives the signal, and returns its number. If `nanoseconds`
/// is not negative, it is a time limit, after which the function returns 0. The signals have to be blocked in
/// every thread. If `is_from_terminal` is not null, it receives whether the kernel has sent the signal to the
/// group of processes in the foreground, for example because the user typed Ctrl-C.
int32_t cterminal_wait_for_signal(
    const int32_t *signals, size_t count, int64_t nanoseconds, bool *is_from_terminal);

/// Ends the process by a signal: sets the signal's disposition to the default, and raises it.
_Noreturn void cterminal_end_by_signal(int32_t signal);

/// Stops the process like a job of a shell, and returns when the process is continued.
void cterminal_stop(void);

/// Returns the number of terminal cells that a character takes according to the locale: 0, 1 or 2; -1 if the
/// character is not printable.
int cterminal_character_width(uint32_t scalar);
