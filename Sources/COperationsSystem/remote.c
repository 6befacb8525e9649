// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemRemote.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char executable[] = "/proc/self/exe";

bool csystem_has_more_privileges(void) { return getauxval(AT_SECURE) != 0; }

int csystem_take_environment(const char *name, char *buffer, size_t capacity) {
  const char *value = getenv(name);
  if (!value) return ENOENT;
  int error = csystem_has_more_privileges() ? EPERM : strlen(value) < capacity ? 0 : ENAMETOOLONG;
  if (error == 0) strcpy(buffer, value);
  unsetenv(name);
  return error;
}

int csystem_executable_path(char *buffer, size_t capacity) {
  ssize_t count = readlink(executable, buffer, capacity);
  if (count < 0) return errno;
  struct stat named, own;
  if ((size_t)count < capacity) {
    buffer[count] = 0;
    if (stat(executable, &own) != 0) return errno;
    if (stat(buffer, &named) == 0 && named.st_dev == own.st_dev && named.st_ino == own.st_ino) return 0;
  }
  if (capacity < sizeof executable) return ENAMETOOLONG;
  memcpy(buffer, executable, sizeof executable);
  return 0;
}

int csystem_executable_identity(csystem_file_identity *identity) {
  struct stat status;
  if (stat(executable, &status) != 0) return errno;
  identity->device = status.st_dev;
  identity->inode = status.st_ino;
  identity->size = (uint64_t)status.st_size;
  identity->change_time = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
  return 0;
}

int csystem_executable_hash(uint64_t *hash) {
  int file = csystem_above_standard_streams(open(executable, O_RDONLY | O_CLOEXEC));
  if (file < 0) return -file;
  uint64_t result = 0;
  uint64_t words[1 << 13];
  int error = 0;
  for (;;) {
    size_t filled = 0;
    // Each buffer except the last one is full, so that the hash does not depend on the sizes of the reads.
    while (filled < sizeof words) {
      ssize_t count = read(file, (char *)words + filled, sizeof words - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) error = errno;
      if (count <= 0) break;
      filled += (size_t)count;
    }
    memset((char *)words + filled, 0, sizeof words - filled);
    for (size_t index = 0; index * sizeof *words < filled; index++) {
      // The factor is 2^64 divided by the golden ratio.
      result = (result ^ words[index]) * 0x9E3779B97F4A7C15;
      result ^= result >> 32;
    }
    if (filled < sizeof words) break;
  }
  close(file);
  *hash = result;
  return error;
}

int csystem_create_directory(char *path) {
  if (!mkdtemp(path)) return errno;
  // The file mode mask of the process may remove permissions of the owner.
  return chmod(path, 0700) == 0 ? 0 : errno;
}

void csystem_make_directory(const char *path) {
  char part[4096];
  size_t length = strlen(path);
  if (length >= sizeof part) return;
  memcpy(part, path, length + 1);
  for (size_t index = 1; index < length; index++) {
    if (part[index] != '/') continue;
    part[index] = 0;
    mkdir(part, 0700);
    part[index] = '/';
  }
  mkdir(part, 0700);
}

void csystem_look_at_directory(const char *path) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) close(directory);
}

void csystem_remove_directory(const char *path) { rmdir(path); }

int csystem_create_private_file(const char *path) {
  int file;
  do file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
  while (file < 0 && errno == EINTR);
  // The file mode mask of the process may remove permissions of the owner.
  if (file >= 0) fchmod(file, 0600);
  return csystem_above_standard_streams(file);
}

int csystem_write(int file, const void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t written = write(file, (const char *)bytes + done, count - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += (size_t)written;
  }
  return 0;
}

int csystem_write_at(int file, const void *bytes, size_t count, int64_t position) {
  for (size_t done = 0; done < count;) {
    ssize_t written =
        pwrite(file, (const char *)bytes + done, count - done, position + (int64_t)done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += (size_t)written;
  }
  return 0;
}

int csystem_rename(const char *path, const char *new_path) {
  return rename(path, new_path) == 0 ? 0 : errno;
}

int csystem_synchronize(int file) { return fsync(file) == 0 ? 0 : errno; }

static int termination_pipe = -1;

static void note_termination(int signal) {
  (void)signal;
  int error = errno;
  // Writing to the pipe does not block. A full pipe is readable, so it needs no further byte.
  if (write(termination_pipe, "", 1) < 0) errno = error;
  errno = error;
}

int csystem_watch_termination(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
  ends[0] = csystem_above_standard_streams(ends[0]);
  termination_pipe = csystem_above_standard_streams(ends[1]);
  if (ends[0] < 0) return ends[0];
  if (termination_pipe < 0) return termination_pipe;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  // Programs that this process executes do not inherit a handler. They would inherit an ignored signal.
  action.sa_handler = note_termination;
  action.sa_flags = SA_RESTART;
  if (sigaction(SIGTERM, &action, NULL) != 0) return -errno;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return pthread_sigmask(SIG_UNBLOCK, &signals, NULL) == 0 ? ends[0] : -EINVAL;
}

static int lock(const char *path, int flags, short type, int command) {
  int file = csystem_above_standard_streams(open(path, flags | O_CLOEXEC | O_NOCTTY));
  if (file < 0) return file;
  struct flock range;
  memset(&range, 0, sizeof range);
  range.l_type = type;
  range.l_whence = SEEK_SET;
  int result;
  do result = fcntl(file, command, &range);
  while (result != 0 && errno == EINTR);
  if (result == 0) return file;
  int error = errno;
  close(file);
  return -error;
}

int csystem_lock_file(const char *path) { return lock(path, O_RDWR, F_WRLCK, F_SETLK); }

int csystem_wait_for_lock(const char *path) { return lock(path, O_RDONLY, F_RDLCK, F_SETLKW); }

bool csystem_has_no_locks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

void csystem_wait_for_parent(void) {
  pid_t parent = getppid();
  while (getppid() == parent) sleep(1);
}

void csystem_buffer_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

void csystem_exit(int32_t status) { exit(status); }
