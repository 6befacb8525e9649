// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Descriptors, signals and character widths, as a terminal program needs them, that Glibc's Swift module
// does not import.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A new eventfd, non-blocking and closed on exec; -1 with errno where there is none to be had.
int cterminal_event_descriptor(void);

/// A new file in memory, closed on exec, that holds at most `limit` bytes: a write beyond fails.
/// Its offset starts at zero. -1 with errno where there is none to be had.
int cterminal_memory_descriptor(const char *name, size_t limit);

/// Blocks these signals in the calling thread and in the threads that it starts from now on.
void cterminal_block_signals(const int32_t *signals, size_t count);

/// Lets these signals interrupt the calling thread again.
void cterminal_unblock_signals(const int32_t *signals, size_t count);

/// Whether the process ignores a signal, as under nohup(1).
bool cterminal_is_ignored(int32_t signal);

/// A signalfd of these signals, non-blocking and closed on exec; -1 with errno on failure. The
/// signals have to be blocked in every thread.
int cterminal_signal_descriptor(const int32_t *signals, size_t count);

/// Takes one signal out of a signalfd; 0 where none is pending.
int32_t cterminal_next_signal(int descriptor);

/// Waits until one of these signals is pending, and takes it; 0 after `nanoseconds`, where that is
/// not negative. The signals have to be blocked in every thread.
int32_t cterminal_wait_for_signal(
    const int32_t *signals, size_t count, int64_t nanoseconds);

/// Ends the process by a signal: its disposition becomes the default one, and it is raised.
_Noreturn void cterminal_end_by_signal(int32_t signal);

/// Stops the process as a shell's job, and returns when it is continued.
void cterminal_stop(void);

/// How many cells a character takes by the locale's tables: 0, 1 or 2; -1 for what is not printable.
int cterminal_character_width(uint32_t scalar);
