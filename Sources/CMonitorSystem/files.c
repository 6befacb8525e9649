// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// Returns 0 if a system call has succeeded, and otherwise the error number.
static int32_t error_of(int result) { return result == 0 ? 0 : errno; }

/// Returns the descriptor that a system call has returned, or the negative error number.
static int32_t descriptor_of(int result) { return result >= 0 ? result : -errno; }

// Creating, opening and closing files.

int32_t cmonitor_create_file(
    const char *path, enum cmonitor_existing_file existing, uint32_t permissions) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  if (existing == CMONITOR_FAIL_IF_FILE_EXISTS) flags |= O_EXCL;
  if (existing == CMONITOR_TRUNCATE_EXISTING_FILE) flags |= O_TRUNC;
  int file = open(path, flags, (mode_t)permissions);
  if (file < 0 || file > STDERR_FILENO) return descriptor_of(file);
  int32_t moved = descriptor_of(fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  close(file);
  return moved;
}

int32_t cmonitor_create_unique_file(char *path, bool appends) {
  return descriptor_of(mkostemp(path, O_CLOEXEC | (appends ? O_APPEND : 0)));
}

int32_t cmonitor_open_to_append(const char *path, bool creates) {
  int flags = O_RDWR | O_APPEND | O_CLOEXEC | (creates ? O_CREAT | O_EXCL : 0);
  return descriptor_of(open(path, flags, S_IRUSR | S_IWUSR));
}

int32_t cmonitor_open_to_read(const char *path) {
  return descriptor_of(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

int32_t cmonitor_open_to_read_waiting(const char *path) {
  for (;;) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file >= 0 || errno != EINTR) return descriptor_of(file);
  }
}

int32_t cmonitor_close(int32_t file) { return error_of(close(file)); }

// Reading and writing.

intptr_t cmonitor_read(int32_t file, void *buffer, size_t capacity) {
  for (;;) {
    ssize_t count = read(file, buffer, capacity);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

size_t cmonitor_read_at(int32_t file, void *buffer, size_t capacity, int64_t offset) {
  size_t filled = 0;
  while (filled < capacity) {
    ssize_t count =
        pread(file, (char *)buffer + filled, capacity - filled, (off_t)(offset + (int64_t)filled));
    if (count > 0) {
      filled += (size_t)count;
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  return filled;
}

intptr_t cmonitor_read_some_at(int32_t file, void *buffer, size_t capacity, int64_t offset) {
  for (;;) {
    ssize_t count = pread(file, buffer, capacity, (off_t)offset);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

intptr_t cmonitor_write(int32_t file, const void *bytes, size_t count) {
  ssize_t written = write(file, bytes, count);
  return written >= 0 ? written : -errno;
}

int32_t cmonitor_write_all(int32_t file, const void *bytes, size_t count, bool waits) {
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = write(file, rest, count);
    if (written >= 0) {
      rest += written;
      count -= (size_t)written;
    } else if (errno == EAGAIN && waits) {
      struct pollfd entry = {.fd = file, .events = POLLOUT};
      poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int32_t cmonitor_write_all_or_none(
    int32_t file, const void *bytes, size_t count, int64_t size) {
  // The system sends the signal to the thread that writes. The thread blocks the signal, and removes it before it
  // unblocks it. Therefore no other thread and no other file of the process is affected.
  sigset_t size_signal, old;
  sigemptyset(&size_signal);
  sigaddset(&size_signal, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &size_signal, &old);
  int32_t error = cmonitor_write_all(file, bytes, count, false);
  if (sigismember(&old, SIGXFSZ) == 0) {
    const struct timespec no_time = {0};
    while (sigtimedwait(&size_signal, NULL, &no_time) == SIGXFSZ) {}
    pthread_sigmask(SIG_SETMASK, &old, NULL);
  }
  // The size of a device cannot be set. Then the call fails, and its result is not needed.
  if (error != 0 && ftruncate(file, (off_t)size) != 0) {}
  return error;
}

// The status and the path of a file.

static void copy(const struct stat *facts, struct cmonitor_file_status *status) {
  status->size = facts->st_size;
  status->device = facts->st_dev;
  status->number = facts->st_ino;
  status->owner = facts->st_uid;
  status->permissions = facts->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  status->is_regular = S_ISREG(facts->st_mode);
  status->is_directory = S_ISDIR(facts->st_mode);
}

int32_t cmonitor_read_status(
    const char *path, bool follows_link, struct cmonitor_file_status *status) {
  struct stat facts;
  int result = follows_link ? stat(path, &facts) : lstat(path, &facts);
  if (result == 0) copy(&facts, status);
  return error_of(result);
}

int32_t cmonitor_read_open_status(int32_t file, struct cmonitor_file_status *status) {
  struct stat facts;
  int result = fstat(file, &facts);
  if (result == 0) copy(&facts, status);
  return error_of(result);
}

void cmonitor_make_private(int32_t file) {
  if (fchmod(file, S_IRUSR | S_IWUSR) != 0) return;
}

int32_t cmonitor_set_permissions(int32_t file, uint32_t permissions) {
  return error_of(fchmod(file, (mode_t)permissions));
}

void cmonitor_close_on_exec(int32_t file) { fcntl(file, F_SETFD, FD_CLOEXEC); }

int32_t cmonitor_check_writable(const char *path, bool is_directory) {
  return error_of(access(path, is_directory ? W_OK | X_OK : W_OK));
}

char *cmonitor_resolved_path(const char *path) { return realpath(path, NULL); }

void cmonitor_free(char *text) { free(text); }

int32_t cmonitor_rename(const char *path, const char *new_path) {
  return error_of(rename(path, new_path));
}

int32_t cmonitor_rename_without_replacing(const char *path, const char *new_path) {
  // The file gets its name as a second link. Creating a link fails if the name exists, so no other file is
  // overwritten.
  int32_t error = error_of(link(path, new_path));
  if (error == 0) {
    unlink(path);
  } else if (error != EEXIST) {
    error = cmonitor_rename(path, new_path);
  }
  return error;
}

int32_t cmonitor_delete(const char *path) { return error_of(unlink(path)); }

// Directories.

int32_t cmonitor_create_directory(const char *path, uint32_t permissions) {
  return error_of(mkdir(path, (mode_t)permissions));
}

int32_t cmonitor_create_private_directory(const char *path) {
  if (mkdir(path, S_IRWXU) != 0) return errno == EEXIST ? 0 : errno;
  // The permissions are set again, because the file mode mask of the process may have removed permissions of the
  // owner. The mask is not changed, because other threads of the process may create files at the same time.
  return error_of(chmod(path, S_IRWXU));
}

int32_t cmonitor_create_unique_directory(char *path) { return mkdtemp(path) != NULL ? 0 : errno; }

int32_t cmonitor_delete_directory(const char *path) { return error_of(rmdir(path)); }
