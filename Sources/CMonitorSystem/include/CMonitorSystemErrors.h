// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdint.h>

#pragma clang assume_nonnull begin

// The error numbers that callers distinguish, with the names that POSIX has for them.

/// EACCES: permission denied.
extern const int32_t cmonitor_error_permission_denied;
/// EAGAIN: no data is available, or no data can be written, without waiting.
extern const int32_t cmonitor_error_try_again;
/// ECONNREFUSED: no process listens.
extern const int32_t cmonitor_error_connection_refused;
/// EEXIST: the file exists.
extern const int32_t cmonitor_error_file_exists;
/// EINTR: a signal has interrupted the call.
extern const int32_t cmonitor_error_interrupted;
/// ENOENT: the file does not exist.
extern const int32_t cmonitor_error_no_such_file;
/// ENOTDIR: the file is not a directory.
extern const int32_t cmonitor_error_not_a_directory;
/// ENOTSOCK: the file is not a socket.
extern const int32_t cmonitor_error_not_a_socket;
/// EPERM: the operation is not permitted.
extern const int32_t cmonitor_error_operation_not_permitted;
/// EPIPE: the reader has closed the pipe.
extern const int32_t cmonitor_error_broken_pipe;

/// Returns the system's text about an error number, such as "Permission denied". The text is valid until the next
/// call on the same thread.
const char *cmonitor_error_text(int32_t error);

#pragma clang assume_nonnull end
