// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemErrors.h"
#include <errno.h>
#include <string.h>

const int32_t cmonitor_error_permission_denied = EACCES;
const int32_t cmonitor_error_try_again = EAGAIN;
const int32_t cmonitor_error_connection_refused = ECONNREFUSED;
const int32_t cmonitor_error_file_exists = EEXIST;
const int32_t cmonitor_error_interrupted = EINTR;
const int32_t cmonitor_error_no_such_file = ENOENT;
const int32_t cmonitor_error_not_a_directory = ENOTDIR;
const int32_t cmonitor_error_not_a_socket = ENOTSOCK;
const int32_t cmonitor_error_operation_not_permitted = EPERM;
const int32_t cmonitor_error_broken_pipe = EPIPE;

const char *cmonitor_error_text(int32_t error) { return strerror(error); }
