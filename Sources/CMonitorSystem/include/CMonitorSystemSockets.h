// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The process at the other end of a local socket, as the kernel reports it. The layout is that of the value
/// of `SO_PEERCRED`. The process id is 0 if the calling process cannot see the other process, because of its
/// pid namespace.
struct cmonitor_peer {
  int32_t process_id;
  uint32_t user_id;
  uint32_t group_id;
};

/// Returns the number of the socket option `SO_PEERCRED`.
int32_t cmonitor_peer_option(void);

/// Creates a socket that listens at this path. No file may exist at the path. Only the owner of the file may
/// connect. The socket is non-blocking and closed on exec. Returns the socket. After a failure, no file remains at the
/// path.
int32_t cmonitor_listen_at(const char *path, int32_t backlog);

/// Returns whether a process listens at this path.
bool cmonitor_is_listening_at(const char *path);

#pragma clang assume_nonnull end
