// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The descriptors of the standard input and of the standard error stream.
extern const int32_t cmonitor_standard_input, cmonitor_standard_error;

/// Opens the controlling terminal of the process for reading and writing. Programs that this process starts do not
/// inherit it. Returns the descriptor.
int32_t cmonitor_open_terminal(void);

/// Returns whether an open file is a terminal.
bool cmonitor_is_terminal(int32_t file);

/// Returns the width of a terminal in columns; 0 if it is unknown.
int32_t cmonitor_terminal_columns(int32_t file);

/// Returns the number of terminal cells that a character takes according to the locale: 0, 1 or 2; -1 if the
/// character is not printable.
int32_t cmonitor_character_width(uint32_t scalar);

/// Returns a new file in memory that holds at most `limit` bytes. The file is closed on exec. A write beyond
/// the limit fails. The file's offset starts at zero.
int32_t cmonitor_memory_file(const char *name, size_t limit);

/// Returns a new event: a descriptor that is readable while the event is set. The event is not set. The descriptor is
/// non-blocking and closed on exec.
int32_t cmonitor_event(void);

/// Sets an event.
void cmonitor_set_event(int32_t event);

/// Makes an event not set.
void cmonitor_clear_event(int32_t event);

/// An open file to wait for, and its state after the wait.
struct cmonitor_waiting {
  int32_t file;
  /// Whether the file has bytes to read.
  bool is_readable;
  /// Whether the file has bytes to read, has reported a hang-up, or is not valid.
  bool is_ready;
};

/// Waits until a file is ready, until a number of milliseconds has passed, or until a signal interrupts the call. If
/// the number is negative, there is no time limit. Returns the number of ready files, or a negative error number. `count`
/// is at most 8.
int32_t cmonitor_wait(struct cmonitor_waiting *files, size_t count, int32_t milliseconds);

#pragma clang assume_nonnull end
