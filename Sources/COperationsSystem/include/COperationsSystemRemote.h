// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The system calls for work that another process of the same executable runs: the executable, the files of the work,
// and the end of the other process.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Returns whether the program has more privileges than the user that started it, because its file has the
/// set-user-ID mode, the set-group-ID mode or capabilities.
bool csystem_has_more_privileges(void);

/// Copies the value of an environment variable, with a NUL character at its end, and removes the variable. Must be
/// called before the process has other threads. Returns 0 or the error number: ENOENT if the variable is not set, EPERM
/// if the program has more privileges than the user that started it, and ENAMETOOLONG if the value is too long.
int csystem_take_environment(const char *name, char *buffer, size_t capacity);

/// Writes the path of the executable of this process, with a NUL character at its end. If the file was deleted or
/// replaced, the path is "/proc/self/exe", which a child of this process can still execute. Returns 0 or the
/// error number.
int csystem_executable_path(char *buffer, size_t capacity);

/// What distinguishes a file from all other files of this machine, and from earlier contents of the same file.
typedef struct {
  uint64_t device;
  uint64_t inode;
  uint64_t size;
  /// The time of the last change in nanoseconds since 1970-01-01T00:00:00Z.
  int64_t change_time;
} csystem_file_identity;

/// Finds the identity of the executable of this process. Returns 0 or the error number.
int csystem_executable_identity(csystem_file_identity *identity);

/// Computes a hash of the contents of the executable of this process. The function reads the whole file. Returns 0 or
/// the error number.
int csystem_executable_hash(uint64_t *hash);

/// Creates a directory that only this user can use. The last six characters of the path are "XXXXXX", which are
/// replaced. Returns 0 or the error number.
int csystem_create_directory(char *path);

/// Creates a directory that only this user can use, and the directories that contain it, unless they exist. An error is
/// ignored.
void csystem_make_directory(const char *path);

/// Opens and closes a directory, so that a network file system asks its server which files exist. An error is ignored.
void csystem_look_at_directory(const char *path);

/// Removes a directory if it is empty.
void csystem_remove_directory(const char *path);

/// Opens a file for writing, empties it, and creates it with the mode 0600 if it does not exist. The result is that of
/// csystem_open_input().
int csystem_create_private_file(const char *path);

/// Writes all bytes at the position of the file. Returns 0 or the error number.
int csystem_write(int file, const void *bytes, size_t count);

/// Writes all bytes at a position from the beginning of the file. Returns 0 or the error number.
int csystem_write_at(int file, const void *bytes, size_t count, int64_t position);

/// Gives a file a new name, and replaces an existing file with this name. Returns 0 or the error number.
int csystem_rename(const char *path, const char *new_path);

/// Waits until the contents of a file are on its device. Returns 0 or the error number, which can be that of an earlier
/// write.
int csystem_synchronize(int file);

/// Opens a descriptor that becomes readable when this process receives SIGTERM. From then on, the signal does not end
/// this process. Programs that this process executes have the default action of the signal. Must be called at most
/// once. The result is that of csystem_open_input().
int csystem_watch_termination(void);

/// Opens a file, and locks it without waiting, until this process closes the file or ends. The lock belongs to this
/// process: a child does not hold it, and the lock ends when this process closes any descriptor of the file. The result
/// is that of csystem_open_input().
int csystem_lock_file(const char *path);

/// Opens a file, and waits until no other process has locked it. The result is that of csystem_open_input().
int csystem_wait_for_lock(const char *path);

/// Whether an error means that the file system of a file has no locks.
bool csystem_has_no_locks(int error);

/// Waits until the parent of this process ends. The function checks this once a second.
void csystem_wait_for_parent(void);

/// Makes the C library write the standard output of this process after each line, and not only when a buffer is full.
/// Must be called before the first output.
void csystem_buffer_lines(void);

/// Writes the buffered output of the C library, and ends this process.
__attribute__((noreturn)) void csystem_exit(int32_t status);

#pragma clang assume_nonnull end
