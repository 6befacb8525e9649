// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemShims.h"
#include "COperationsSystemCommands.h"
#include "internal.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The number is the same for all architectures. Older headers do not have it.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static int open_private(const char *path, int flags) {
  int file;
  do file = open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);
  while (file < 0 && errno == EINTR);
  // The mask of the process could take the owner's permissions too.
  if (file >= 0 && (flags & O_CREAT) != 0) fchmod(file, 0600);
  return csystem_above_standard_streams(file);
}

static int lock(int file, int operation) {
  int result;
  do result = flock(file, operation | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int csystem_open_locked(const char *path) {
  int file = open_private(path, O_RDWR | O_CREAT);
  if (file < 0) return file;
  int error = lock(file, LOCK_EX);
  if (error == 0 && ftruncate(file, 0) != 0) error = errno;
  if (error == 0) return file;
  close(file);
  return -error;
}

bool csystem_is_lock_held(int error) { return error == EWOULDBLOCK; }

int csystem_is_locked(const char *path) {
  int file = open_private(path, O_RDONLY);
  if (file < 0) return file;
  // A shared lock: two processes that ask at the same time do not see each other's locks.
  int error = lock(file, LOCK_SH);
  close(file);
  return error == EWOULDBLOCK ? 1 : -error;
}

int csystem_open_private_output(const char *path) { return open_private(path, O_WRONLY | O_CREAT | O_APPEND); }

int csystem_open_null(void) { return open_private("/dev/null", O_RDWR); }

void csystem_delete_file(const char *path) { unlink(path); }

intptr_t csystem_read_file(const char *path, void *buffer, size_t capacity) {
  int file = open_private(path, O_RDONLY);
  if (file < 0) return file;
  size_t total = 0;
  int error = 0;
  while (total < capacity) {
    ssize_t count = read(file, (char *)buffer + total, capacity - total);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    total += (size_t)count;
  }
  close(file);
  return error == 0 ? (intptr_t)total : -error;
}

bool csystem_is_executable(const char *path) {
  struct stat status;
  return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

const char *csystem_environment_entry(size_t index) { return environ ? environ[index] : NULL; }

int csystem_current_directory(char *buffer, size_t capacity) { return getcwd(buffer, capacity) ? 0 : errno; }

bool csystem_parse_process_status(const char *line, csystem_process_status *status) {
  // The line is "PID (NAME) STATE PARENT GROUP …". The name can contain any character, so the fields begin after the
  // last parenthesis. The time of the start is the 22nd field.
  const char *fields = strrchr(line, ')');
  if (!fields || sscanf(line, "%d", &status->process) != 1) return false;
  unsigned long long start;
  int count = sscanf(
      fields + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &status->state,
      &status->parent, &status->group, &start);
  if (count != 4) return false;
  status->start_time = start;
  return true;
}

int csystem_read_process_status(int32_t process, csystem_process_status *status) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  intptr_t count = csystem_read_file(path, line, sizeof line - 1);
  if (count < 0) return (int)-count;
  line[count] = 0;
  return csystem_parse_process_status(line, status) ? 0 : ESRCH;
}

int32_t csystem_child(int32_t process) {
  char path[64], line[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
  intptr_t count = csystem_read_file(path, line, sizeof line - 1);
  if (count >= 0) {
    line[count] = 0;
    return (int32_t)strtol(line, NULL, 10);
  }
  if (csystem_is_out_of_descriptors((int)-count)) return -1;
  // The file depends on an option of the kernel.
  DIR *directory = opendir("/proc");
  if (!directory) return -1;
  int32_t child = 0;
  for (struct dirent *entry; !child && (entry = readdir(directory));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    csystem_process_status status;
    int error = csystem_read_process_status((int32_t)strtol(entry->d_name, NULL, 10), &status);
    if (error == 0 && status.parent == process) child = status.process;
    if (csystem_is_out_of_descriptors(error)) child = -1;
  }
  closedir(directory);
  return child;
}

int64_t csystem_ticks_per_second(void) { return sysconf(_SC_CLK_TCK); }

int csystem_open_process(int32_t process) {
  // Unlike an open file, the descriptor of a process is closed in programs that this process executes, without a flag.
  return csystem_above_standard_streams((int)syscall(SYS_pidfd_open, process, 0));
}

bool csystem_is_no_process(int error) { return error == ESRCH; }

bool csystem_group_exists(int32_t group) { return group > 1 && (kill(-group, 0) == 0 || errno != ESRCH); }

bool csystem_is_signal(int32_t number) { return number > 0 && number <= SIGRTMAX; }

void csystem_terminate_process(int32_t process) {
  if (process <= 1) return;
  kill(process, SIGTERM);
  kill(process, SIGCONT);
}

void csystem_continue_group(int32_t group) {
  if (group > 1) kill(-group, SIGCONT);
}
