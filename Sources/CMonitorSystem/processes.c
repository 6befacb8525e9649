// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemProcesses.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t cmonitor_user_id(void) { return geteuid(); }

const char *cmonitor_environment(const char *name) { return getenv(name); }

void cmonitor_at_exit(void (*function)(void)) { atexit(function); }

_Noreturn void cmonitor_exit(int32_t status) { exit(status); }

void cmonitor_replace_closed_streams(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The device gets the number of the stream, because that is the lowest free one.
    if (open("/dev/null", O_CLOEXEC | (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)) < 0) return;
  }
}

void cmonitor_close_inherited_files(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
#endif
  // Linux before 5.9 has no such call. The directory that is read is closed last.
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) return;
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    int file = atoi(entry->d_name);
    if (file > STDERR_FILENO && file != dirfd(directory)) close(file);
  }
  closedir(directory);
}

/// Makes all files except the standard streams closed in programs that this process starts from now on. A library may
/// have opened some without the flag.
static void keep_files_from_programs(void) {
#ifdef SYS_close_range
  const unsigned int close_on_exec = 1U << 2;
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, close_on_exec) == 0) return;
#endif
  // Linux before 5.11 has no such call.
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) return;
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    int file = atoi(entry->d_name);
    if (file > STDERR_FILENO) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  closedir(directory);
}

/// Returns the texts as an array that ends with a null pointer. The caller frees the array.
static char **array_of(struct cmonitor_texts texts) {
  char **array = calloc(texts.count + 1, sizeof *array);
  if (array == NULL) return NULL;
  const char *text = texts.bytes;
  for (size_t index = 0; index < texts.count; index++) {
    array[index] = (char *)text;
    text += strlen(text) + 1;
  }
  return array;
}

static void prepare_files(
    posix_spawn_file_actions_t *actions, int32_t output, bool is_own_session) {
  if (is_own_session) {
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
  }
}

/// This process blocks and ignores signals, which the program must not inherit.
static void prepare_signals(posix_spawnattr_t *attributes, bool is_own_session) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  posix_spawnattr_setsigdefault(attributes, &signals);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (is_own_session) flags |= POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(attributes, (short)flags);
}

int32_t cmonitor_start_program(
    const char *path, struct cmonitor_texts arguments, struct cmonitor_texts environment,
    int32_t output, bool is_own_session, int32_t *process) {
  // A parent that ignores SIGCHLD makes the system discard the endings of children.
  signal(SIGCHLD, SIG_DFL);
  char **words = array_of(arguments);
  char **variables = array_of(environment);
  int error = ENOMEM;
  if (words != NULL && variables != NULL) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    prepare_files(&actions, output, is_own_session);
    prepare_signals(&attributes, is_own_session);
    pid_t child = 0;
    error = path == NULL
        ? posix_spawnp(&child, words[0], &actions, &attributes, words, variables)
        : posix_spawn(&child, path, &actions, &attributes, words, variables);
    *process = child;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  free(words);
  free(variables);
  return error;
}

/// Creates pipes for the standard streams of a program. For each stream, the first file is the reading end. Returns
/// false, with an error number, if the system cannot create them.
static bool open_pipes(int pipes[3][2]) {
  for (int stream = 0; stream < 3; stream++) {
    if (pipe2(pipes[stream], O_CLOEXEC) == 0) continue;
    int error = errno;
    while (stream-- > 0) {
      close(pipes[stream][0]);
      close(pipes[stream][1]);
    }
    errno = error;
    return false;
  }
  return true;
}

int32_t cmonitor_start_piped_program(
    struct cmonitor_texts arguments, int32_t *process, struct cmonitor_pipes *pipes) {
  // A parent that ignores SIGCHLD makes the system discard the endings of children.
  signal(SIGCHLD, SIG_DFL);
  int files[3][2];
  if (!open_pipes(files)) return errno;
  char **words = array_of(arguments);
  int error = ENOMEM;
  if (words != NULL) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, files[0][0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, files[1][1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, files[2][1], STDERR_FILENO);
    prepare_signals(&attributes, true);
    keep_files_from_programs();
    pid_t child = 0;
    error = posix_spawnp(&child, words[0], &actions, &attributes, words, environ);
    *process = child;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  free(words);
  close(files[0][0]);
  close(files[1][1]);
  close(files[2][1]);
  if (error == 0) {
    *pipes = (struct cmonitor_pipes){files[0][1], files[1][0], files[2][0]};
  } else {
    close(files[0][1]);
    close(files[1][0]);
    close(files[2][0]);
  }
  return error;
}

void cmonitor_wait_for_end(int32_t process) {
  siginfo_t facts;
  // The process stays as a zombie, so that it keeps its id.
  while (waitid(P_PID, (id_t)process, &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
}

bool cmonitor_take_ending(int32_t process, int32_t *status, int32_t *signal) {
  int facts = 0;
  if (waitpid(process, &facts, 0) != process) return false;
  *signal = WIFSIGNALED(facts) ? WTERMSIG(facts) : 0;
  *status = WIFEXITED(facts) ? WEXITSTATUS(facts) : 0;
  return true;
}

void cmonitor_send_signal(int32_t process, int32_t signal) { kill(process, signal); }

bool cmonitor_is_session_leader(void) { return getsid(0) == getpid(); }
