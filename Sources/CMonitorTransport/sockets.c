// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorTransport.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(struct ctransport_peer) == sizeof(struct ucred), "the layout of SO_PEERCRED");

int ctransport_peer_option(void) { return SO_PEERCRED; }

static bool make_address(struct sockaddr_un *address, const char *path) {
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  strcpy(address->sun_path, path);
  return true;
}

int ctransport_listen_at(const char *path, int backlog) {
  struct sockaddr_un address;
  if (!make_address(&address, path)) {
    return -1;
  }
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    return -1;
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
  errno = error;
  return -1;
}

bool ctransport_is_listening_at(const char *path) {
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
