// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemTerminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

const int32_t cmonitor_standard_input = STDIN_FILENO;
const int32_t cmonitor_standard_error = STDERR_FILENO;

int32_t cmonitor_open_terminal(void) {
  int file = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return file >= 0 ? file : -errno;
}

bool cmonitor_is_terminal(int32_t file) { return isatty(file) == 1; }

int32_t cmonitor_terminal_columns(int32_t file) {
  struct winsize size;
  return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int32_t cmonitor_character_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }

int32_t cmonitor_memory_file(const char *name, size_t limit) {
  int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -errno;
  // The file gets its maximum size first, and is then sealed so that it cannot grow. Pages that were never
  // written use no memory.
  if (ftruncate(file, (off_t)limit) != 0
      || fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    int error = errno;
    close(file);
    return -error;
  }
  return file;
}

int32_t cmonitor_event(void) {
  int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return event >= 0 ? event : -errno;
}

void cmonitor_set_event(int32_t event) {
  const uint64_t one = 1;
  if (write(event, &one, sizeof one) < 0) return;
}

void cmonitor_clear_event(int32_t event) {
  uint64_t count;
  if (read(event, &count, sizeof count) < 0) return;
}

enum { most_files = 8 };

int32_t cmonitor_wait(struct cmonitor_waiting *files, size_t count, int32_t milliseconds) {
  if (count > most_files) return -EINVAL;
  struct pollfd entries[most_files];
  for (size_t index = 0; index < count; index++) {
    entries[index] = (struct pollfd){.fd = files[index].file, .events = POLLIN};
  }
  int result = poll(entries, (nfds_t)count, milliseconds);
  if (result < 0) return -errno;
  for (size_t index = 0; index < count; index++) {
    files[index].is_readable = (entries[index].revents & POLLIN) != 0;
    files[index].is_ready = entries[index].revents != 0;
  }
  return result;
}
