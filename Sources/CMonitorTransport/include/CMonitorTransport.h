// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/// The process at the other end of a local socket, as the kernel reports it: the layout of the value of
/// `SO_PEERCRED`. The process id is 0 if the process is not visible here.
struct ctransport_peer {
  int32_t process_id;
  uint32_t user_id;
  uint32_t group_id;
};

/// Returns the number of that option of the socket level.
int ctransport_peer_option(void);

/// Makes a socket that listens at this path, which must be free, and that only the owner may use. It is
/// non-blocking and closed on exec. Returns it, or -1 with errno, and then nothing is at the path.
int ctransport_listen_at(const char *path, int backlog);

/// Returns whether a process listens at this path.
bool ctransport_is_listening_at(const char *path);

#pragma clang assume_nonnull end
