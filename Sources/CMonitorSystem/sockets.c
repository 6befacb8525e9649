// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemSockets.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(struct cmonitor_peer) == sizeof(struct ucred), "the layout of SO_PEERCRED");

int32_t cmonitor_peer_option(void) { return SO_PEERCRED; }

/// Stores the address of a path. Returns false if the path is too long.
static bool make_address(struct sockaddr_un *address, const char *path) {
  if (strlen(path) >= sizeof address->sun_path) {
    return false;
  }
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  strcpy(address->sun_path, path);
  return true;
}

int32_t cmonitor_listen_at(const char *path, int32_t backlog) {
  struct sockaddr_un address;
  if (!make_address(&address, path)) {
    return -ENAMETOOLONG;
  }
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    return -errno;
  }
  bool is_bound = bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
  // No process can connect before the socket listens, whatever permissions the file had until then.
  if (is_bound && chmod(path, S_IRUSR | S_IWUSR) == 0 && listen(descriptor, backlog) == 0) {
    return descriptor;
  }
  int error = errno;
  if (is_bound) {
    unlink(path);
  }
  close(descriptor);
  return -error;
}

bool cmonitor_is_listening_at(const char *path) {
  struct sockaddr_un address;
  if (!make_address(&address, path)) {
    return false;
  }
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    // Without a socket it is unknown whether a process listens. The result is true, because the caller then
    // does not change the file at the path.
    return true;
  }
  // If connect() fails because too many connections wait to be accepted, a process listens.
  bool is_listening = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0
                      || (errno != ECONNREFUSED && errno != ENOENT);
  close(descriptor);
  return is_listening;
}
