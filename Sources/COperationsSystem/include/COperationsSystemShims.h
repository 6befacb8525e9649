// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The system calls for commands that outlive this process: locked files, and processes that are not children of this
// process.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Opens a file for reading and writing, creates it with the mode 0600 if it does not exist, locks it for this open
/// file, and then empties it. The lock ends when all descriptors of this open file are closed, also in the programs
/// that have inherited them. Returns the descriptor, which has the properties of csystem_open_input(), or the negative
/// error number, for which csystem_is_lock_held() returns true if the file is locked.
int csystem_open_locked(const char *path);

/// Returns whether an error number means that a file is locked.
bool csystem_is_lock_held(int error);

/// Returns 1 if a file is locked by csystem_open_locked(), 0 if it is not, or the negative error number.
int csystem_is_locked(const char *path);

/// Opens a file at whose end a command writes, and creates it with the mode 0600 if it does not exist. The result is
/// that of csystem_open_input().
int csystem_open_private_output(const char *path);

/// Opens /dev/null for reading and writing. The result is that of csystem_open_input().
int csystem_open_null(void);

/// Deletes a file if it exists.
void csystem_delete_file(const char *path);

/// Reads the beginning of a file, at most `capacity` bytes. Returns their number or the negative error number.
intptr_t csystem_read_file(const char *path, void *buffer, size_t capacity);

/// Returns whether a path is a file that this user may execute.
bool csystem_is_executable(const char *path);

/// Returns an entry of the environment of this process, such as "NAME=VALUE"; null for the index after the last entry.
/// The first index is 0. The entry is valid until the environment is changed.
const char *_Nullable csystem_environment_entry(size_t index);

/// Writes the path of the current directory, with a NUL character at its end. Returns 0 or the error number.
int csystem_current_directory(char *buffer, size_t capacity);

/// What the file /proc/PID/stat says about a process.
typedef struct {
  int32_t process;
  int32_t parent;
  /// The process group.
  int32_t group;
  /// The time of the process's start after the start of the system, in ticks; see csystem_ticks_per_second().
  uint64_t start_time;
  /// The letter of the state: 'Z' for a process that has ended and was not reaped.
  char state;
} csystem_process_status;

/// Reads a line of a file /proc/PID/stat. Returns whether it is complete.
bool csystem_parse_process_status(const char *line, csystem_process_status *status);

/// Reads the status of a process. Returns 0 or the error number.
int csystem_read_process_status(int32_t process, csystem_process_status *status);

/// Returns the id of a child of a process; 0 if there is none; -1 if it is unknown. The process need not be this one.
int32_t csystem_child(int32_t process);

/// Returns the number of ticks in a second.
int64_t csystem_ticks_per_second(void);

/// Opens a process, which need not be a child of this process. The descriptor is readable when the process has ended.
/// The result is that of csystem_open_input().
int csystem_open_process(int32_t process);

/// Returns whether an error number means that a process does not exist.
bool csystem_is_no_process(int error);

/// Returns whether a process group has members, which may have ended if they were not reaped.
bool csystem_group_exists(int32_t group);

/// Returns whether there is a signal with a number.
bool csystem_is_signal(int32_t number);

/// Sends SIGTERM to a process, and continues it if it is stopped.
void csystem_terminate_process(int32_t process);

/// Continues the stopped members of a process group.
void csystem_continue_group(int32_t group);

#pragma clang assume_nonnull end
