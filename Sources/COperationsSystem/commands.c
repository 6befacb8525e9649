// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "COperationsSystemCommands.h"
#include "COperationsSystemShims.h"
#include "internal.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int csystem_above_standard_streams(int file) {
  if (file < 0) return -errno;
  if (file > STDERR_FILENO) return file;
  int copy = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(file);
  return copy < 0 ? -error : copy;
}

static int open_for_command(const char *path, int flags) {
  int file;
  do file = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  while (file < 0 && errno == EINTR);
  file = csystem_above_standard_streams(file);
  if (file >= 0) {
    int status = fcntl(file, F_GETFL);
    if (status >= 0) fcntl(file, F_SETFL, status & ~O_NONBLOCK);
  }
  return file;
}

int csystem_open_input(const char *path) { return open_for_command(path, O_RDONLY); }

int csystem_open_output(const char *path, bool appends) {
  return open_for_command(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC));
}

int csystem_open_memory(const void *bytes, size_t count) {
  int file = csystem_above_standard_streams(memfd_create("opq", MFD_CLOEXEC));
  if (file < 0) return file;
  for (size_t written = 0; written < count;) {
    ssize_t result = pwrite(file, (const char *)bytes + written, count - written, (off_t)written);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) {
      int error = result < 0 ? errno : ENOSPC;
      close(file);
      return -error;
    }
    written += (size_t)result;
  }
  return file;
}

void csystem_format_time(int64_t seconds, bool has_date, char *text, size_t capacity) {
  time_t time = (time_t)seconds;
  struct tm parts;
  if (capacity > 0) text[0] = 0;
  if (localtime_r(&time, &parts)) strftime(text, capacity, has_date ? "%Y-%m-%d %H:%M" : "%H:%M", &parts);
}

int csystem_open_pipe(int *read_end, int *write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  ends[0] = csystem_above_standard_streams(ends[0]);
  ends[1] = csystem_above_standard_streams(ends[1]);
  int error = ends[0] < 0 ? -ends[0] : ends[1] < 0 ? -ends[1] : 0;
  if (error == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) error = errno;
  if (error != 0) {
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    return error;
  }
  *read_end = ends[0];
  *write_end = ends[1];
  return 0;
}

intptr_t csystem_read_pipe(int pipe, void *buffer, size_t capacity) {
  ssize_t count;
  do count = read(pipe, buffer, capacity);
  while (count < 0 && errno == EINTR);
  if (count >= 0) return count;
  return errno == EAGAIN ? -1 : -2;
}

int csystem_open_watch(void) { return csystem_above_standard_streams(epoll_create1(EPOLL_CLOEXEC)); }

int csystem_watch_descriptor(int watch, int descriptor, uint64_t number) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = number};
  return epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

void csystem_unwatch_descriptor(int watch, int descriptor) {
  struct epoll_event event = {0};
  epoll_ctl(watch, EPOLL_CTL_DEL, descriptor, &event);
}

int32_t csystem_wait_for_descriptors(int watch, uint64_t *numbers, int32_t capacity) {
  struct epoll_event events[64];
  if (capacity > 64) capacity = 64;
  int count;
  do count = epoll_wait(watch, events, capacity, -1);
  while (count < 0 && errno == EINTR);
  for (int index = 0; index < count; index++) numbers[index] = events[index].data.u64;
  return count;
}

bool csystem_is_readable(int descriptor) {
  struct pollfd request = {.fd = descriptor, .events = POLLIN};
  return poll(&request, 1, 0) > 0;
}

int64_t csystem_file_size(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

size_t csystem_read_file_at(int file, void *buffer, size_t capacity, int64_t position) {
  size_t total = 0;
  while (total < capacity) {
    ssize_t count = pread(file, (char *)buffer + total, capacity - total, position + (int64_t)total);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    total += (size_t)count;
  }
  return total;
}

bool csystem_is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

bool csystem_is_not_found(int error) { return error == ENOENT || error == ENOTDIR; }

int64_t csystem_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT64_MAX) {
    return INT64_MAX;
  }
  return (int64_t)limit.rlim_cur;
}

int64_t csystem_open_descriptor_count(void) {
  DIR *directory = opendir("/proc/self/fd");
  // If the folder cannot be opened for lack of a descriptor, all descriptors are open.
  if (!directory) return csystem_is_out_of_descriptors(errno) ? csystem_descriptor_limit() : -1;
  int64_t count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) count += entry->d_name[0] != '.';
  closedir(directory);
  // The descriptor of the folder itself is not counted.
  return count - 1;
}

void csystem_terminate_group(int32_t group) {
  if (group <= 1) return;
  kill(-group, SIGTERM);
  // A stopped process handles the signal only when it continues.
  kill(-group, SIGCONT);
}

void csystem_kill_group(int32_t group) {
  if (group > 1) kill(-group, SIGKILL);
}

void csystem_kill_process(int32_t process) {
  if (process > 1) kill(process, SIGKILL);
}

// Returns 1 if a process is in a group and has not ended, 0 if not, or -1 if that is unknown because this process has
// no free descriptor.
static int is_living_member(const char *process, int32_t group) {
  csystem_process_status status;
  int error = csystem_read_process_status((int32_t)strtol(process, NULL, 10), &status);
  // Without a shortage of descriptors, the process has ended since its folder was listed.
  if (error != 0) return csystem_is_out_of_descriptors(error) ? -1 : 0;
  return status.group == group && status.state != 'Z' && status.state != 'X';
}

int32_t csystem_living_member_count(int32_t group) {
  // `kill` succeeds for a group in which all processes have ended and were not reaped, so the states are read.
  if (kill(-group, 0) != 0 && errno == ESRCH) return 0;
  DIR *directory = opendir("/proc");
  if (!directory) return -1;
  int32_t count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    int members = is_living_member(entry->d_name, group);
    if (members < 0) {
      count = -1;
      break;
    }
    count += members;
  }
  closedir(directory);
  return count;
}

bool csystem_reap(int32_t child) {
  siginfo_t information;
  memset(&information, 0, sizeof information);
  if (waitid(P_PID, (id_t)child, &information, WEXITED | WNOHANG) != 0) return errno == ECHILD;
  return information.si_pid != 0;
}

const char *csystem_signal_name(int32_t signal) {
  static const struct {
    int number;
    const char *name;
  } names[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
      {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
  };
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    if (names[index].number == signal) return names[index].name;
  }
  return NULL;
}
