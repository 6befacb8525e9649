// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Returns whether the calling code runs on the main dispatch queue, or on a queue that targets it.
bool csystem_is_on_main_dispatch_queue(void);

/// Returns the id of this process.
int32_t csystem_process_id(void);

/// Returns the value of an environment variable; null if the variable is not set, or if the program has more
/// privileges than the user that started it.
const char *_Nullable csystem_secure_environment(const char *name);

/// Starts the monitor of this process, if the monitor is linked and an environment variable requests it. Returns
/// when the monitor is ready for the first operation. A second call only waits.
///
/// The result is false if the monitor is not ready, but the calling thread must not wait for it. Other threads must
/// then call the function too.
bool csystem_offer_monitor(void);

/// Opens a file for reading. Programs that this process starts do not inherit it. Returns the file's descriptor, or
/// -1 if the file cannot be opened.
int csystem_open_to_read(const char *path);

/// Reads at most `capacity` bytes of an open file. Returns the number of bytes, 0 at the end of the file, or -1 if
/// the file cannot be read.
intptr_t csystem_read(int file, void *buffer, size_t capacity);

/// Closes an open file.
void csystem_close(int file);

/// Writes bytes to the standard error stream. An error is ignored.
void csystem_write_to_standard_error(const void *bytes, size_t count);

#pragma clang assume_nonnull end
