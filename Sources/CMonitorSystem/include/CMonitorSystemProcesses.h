// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Returns the id of the user with whose rights this process runs.
uint32_t cmonitor_user_id(void);

/// Returns the value of an environment variable; null if the variable is not set. The value is valid until the
/// environment is changed.
const char *_Nullable cmonitor_environment(const char *name);

/// Makes the process call a function when it ends by cmonitor_exit() or because `main` returns. Functions that were
/// given later are called earlier.
void cmonitor_at_exit(void (*function)(void));

/// Ends the process with a status, after the functions of cmonitor_at_exit().
_Noreturn void cmonitor_exit(int32_t status);

/// Opens the null device in place of each standard stream that is closed. Reading and writing still fail, as with a
/// closed stream. Programs that this process starts do not inherit the device.
void cmonitor_replace_closed_streams(void);

/// Texts that follow one another, each with a null character at its end. `bytes` may be null if there are none.
struct cmonitor_texts {
  const char *_Nullable bytes;
  size_t count;
};

/// Closes all files except the standard streams. Call this function before the process has a second thread and opens
/// files of its own.
void cmonitor_close_inherited_files(void);

/// Starts a program, and stores the id of its process in `process`. Returns 0, or the error number.
///
/// The program blocks no signals, and does not ignore SIGPIPE and SIGXFSZ. From this call on, this process does not
/// ignore SIGCHLD, so that cmonitor_wait_for_end() works.
///
/// - `path`: the path of the program; if it is null, the first argument is the name of the program, which is searched
///   in `PATH`
/// - `arguments`: the arguments of the program; at least one
/// - `environment`: the environment of the program, as entries `NAME=value`
/// - `output`: the file for the program's standard output and standard error; if it is negative, the program shares
///   those of this process
/// - `is_own_session`: whether the program is the leader of a new session without a terminal. It then reads nothing.
int32_t cmonitor_start_program(
    const char *_Nullable path, struct cmonitor_texts arguments, struct cmonitor_texts environment,
    int32_t output, bool is_own_session, int32_t *process);

/// This process's ends of the pipes of a program.
struct cmonitor_pipes {
  /// The file to write to the program's standard input.
  int32_t input;
  /// The file to read the program's standard output.
  int32_t output;
  /// The file to read the program's standard error.
  int32_t errors;
};

/// Starts a program whose standard streams are pipes, and stores the id of its process and this process's ends of the
/// pipes. Returns 0, or the error number; then there are no pipes.
///
/// The program is the leader of a new session without a terminal, and has the environment of this process. It blocks no
/// signals, and does not ignore SIGPIPE and SIGXFSZ. It inherits no other file: this call sets the close-on-exec flag of
/// all other files of this process. From this call on, this process does not ignore SIGCHLD, so that
/// cmonitor_wait_for_end() works.
///
/// - `arguments`: the arguments of the program; at least one. The first one is the name of the program, which is
///   searched in `PATH`.
int32_t cmonitor_start_piped_program(
    struct cmonitor_texts arguments, int32_t *process, struct cmonitor_pipes *pipes);

/// Waits until a process that this process has started has ended. No other process gets its id before
/// cmonitor_take_ending() was called.
void cmonitor_wait_for_end(int32_t process);

/// Stores how a process has ended, and releases its id. If a signal has ended the process, `signal` is its number, and
/// `status` is 0. Otherwise `signal` is 0. Returns false if the system does not know how the process has ended.
bool cmonitor_take_ending(int32_t process, int32_t *status, int32_t *signal);

/// Sends a signal to a process. If `process` is negative, sends it to all processes of the group `-process`.
void cmonitor_send_signal(int32_t process, int32_t signal);

/// Returns whether this process is the leader of its session.
bool cmonitor_is_session_leader(void);

#pragma clang assume_nonnull end
