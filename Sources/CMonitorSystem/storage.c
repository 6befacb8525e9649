// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemStorage.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

const int32_t cmonitor_error_directory_not_empty = ENOTEMPTY;

/// Returns 0 if a system call has succeeded, and otherwise the error number.
static int32_t error_of(int result) { return result == 0 ? 0 : errno; }

int32_t cmonitor_open_private_file(const char *path) {
  const int flags = O_RDWR | O_CLOEXEC;
  const mode_t permissions = S_IRUSR | S_IWUSR;
  // The permissions are set again, because the file mode mask may have removed some. An existing file keeps its
  // permissions.
  int file = open(path, flags | O_CREAT | O_EXCL, permissions);
  if (file >= 0) {
    if (fchmod(file, permissions) != 0) {}
  } else if (errno == EEXIST) {
    file = open(path, flags | O_CREAT, permissions);
  }
  if (file < 0) return -errno;
  if (file > STDERR_FILENO) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int32_t result = moved >= 0 ? moved : -errno;
  close(file);
  return result;
}

int32_t cmonitor_create_new_private_directory(const char *path) {
  if (mkdir(path, S_IRWXU) != 0) return errno;
  return error_of(chmod(path, S_IRWXU));
}

// Locks.

int32_t cmonitor_lock(int32_t file, bool is_shared) {
  for (;;) {
    if (flock(file, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

void cmonitor_unlock(int32_t file) { flock(file, LOCK_UN); }

// What must be on the disk.

int32_t cmonitor_sync(int32_t file) {
  for (;;) {
    if (fdatasync(file) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

int32_t cmonitor_sync_directory(const char *path) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno;
  int32_t error = error_of(fsync(directory));
  close(directory);
  // File systems without this function return one of these errors.
  return error == EINVAL || error == EBADF || error == ENOTSUP || error == ENOSYS ? 0 : error;
}

int32_t cmonitor_set_size(int32_t file, int64_t size) {
  for (;;) {
    if (ftruncate(file, (off_t)size) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

// Directories.

static int delete_one(const char *path, const struct stat *facts, int kind, struct FTW *place) {
  (void)facts;
  (void)place;
  if (kind == FTW_DNR) {
    // The directory cannot be read: its owner may have removed the permissions.
    errno = EACCES;
    return -1;
  }
  int result = kind == FTW_DP || kind == FTW_D ? rmdir(path) : unlink(path);
  return result == 0 || errno == ENOENT ? 0 : -1;
}

int32_t cmonitor_delete_tree(const char *path) {
  // A file system may leave out names of a directory whose files are deleted while it is read.
  for (int attempt = 0;; attempt++) {
    if (nftw(path, delete_one, 16, FTW_DEPTH | FTW_PHYS) == 0) return 0;
    if (errno != ENOTEMPTY || attempt == 3) return errno;
  }
}

char *cmonitor_working_directory(void) { return getcwd(NULL, 0); }

char *cmonitor_host_name(void) {
  struct utsname names;
  return uname(&names) == 0 ? strdup(names.nodename) : NULL;
}
