// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// Programs that this process starts do not inherit the files that these functions open.

/// What cmonitor_create_file() does if the file exists.
enum cmonitor_existing_file {
  /// It fails with EEXIST.
  CMONITOR_FAIL_IF_FILE_EXISTS,
  /// It opens the file and removes its contents.
  CMONITOR_TRUNCATE_EXISTING_FILE,
  /// It opens the file.
  CMONITOR_KEEP_EXISTING_FILE,
};

/// Creates a file and opens it for writing. The process's file mode mask removes permissions of a new file. Returns
/// the descriptor, which is above 2. If a program was started without a standard stream, the system would give the
/// number of this stream to the file, and the program's output would be written to the file.
int32_t cmonitor_create_file(
    const char *path, enum cmonitor_existing_file existing, uint32_t permissions);

/// Creates a file that only its owner can read and write, and opens it for reading and writing.
///
/// `path` is the beginning of the path and ends with `XXXXXX`. These characters are replaced, so that no file exists
/// at the path. If `appends` is true, all bytes are written at the end of the file. Returns the descriptor.
int32_t cmonitor_create_unique_file(char *path, bool appends);

/// Opens a file for reading, and for writing at its end. If `creates` is true, creates the file, which only its owner
/// can read and write, or fails with EEXIST if it exists. Returns the descriptor.
int32_t cmonitor_open_to_append(const char *path, bool creates);

/// Opens a file for reading. If it is a pipe, does not wait until another process opens the pipe for writing. Returns
/// the descriptor.
int32_t cmonitor_open_to_read(const char *path);

/// Opens a file for reading. If it is a pipe, waits until another process has opened the pipe for writing, and reading
/// waits for bytes. Returns the descriptor.
int32_t cmonitor_open_to_read_waiting(const char *path);

/// Closes a file. Returns 0, or the error number; the system may report only now that the file could not be written.
/// The file is closed in either case.
int32_t cmonitor_close(int32_t file);

/// Reads at most `capacity` bytes. Continues if a signal interrupts the call. Returns the number of bytes, which is 0
/// at the end of the file.
intptr_t cmonitor_read(int32_t file, void *_Nullable buffer, size_t capacity);

/// Reads bytes of a file from an offset on, until `capacity` bytes were read, the file ends or an error occurs. Returns
/// the number of bytes.
size_t cmonitor_read_at(int32_t file, void *_Nullable buffer, size_t capacity, int64_t offset);

/// Reads at most `capacity` bytes of a file from an offset on, once. Continues if a signal interrupts the call. Returns
/// the number of bytes, which is 0 at the end of the file.
intptr_t cmonitor_read_some_at(int32_t file, void *_Nullable buffer, size_t capacity, int64_t offset);

/// Writes bytes, once. Returns the number of written bytes, which may be smaller than `count`.
intptr_t cmonitor_write(int32_t file, const void *_Nullable bytes, size_t count);

/// Writes all bytes. Continues if a signal interrupts the call. If `waits` is true and the file accepts no bytes
/// because it is non-blocking, waits until it accepts some. Returns 0, or the error number.
int32_t cmonitor_write_all(int32_t file, const void *_Nullable bytes, size_t count, bool waits);

/// Writes all bytes to a file that has `size` bytes, or none: after an error, the file has `size` bytes again. Returns
/// 0, or the error number.
///
/// If the file has reached the size limit of the process, the function returns an error, and the signal SIGXFSZ, whose
/// default action ends the process, does not arrive. If the file is not regular, for example because it is a device,
/// the bytes that were written before the error remain.
int32_t cmonitor_write_all_or_none(
    int32_t file, const void *_Nullable bytes, size_t count, int64_t size);

/// The status of a file.
struct cmonitor_file_status {
  /// The size in bytes.
  int64_t size;
  /// The device that contains the file, and the file's number on it. Together they identify the file.
  uint64_t device, number;
  /// The id of the user that owns the file.
  uint32_t owner;
  /// The permissions of the owner, of the group and of other users, such as 0600.
  uint32_t permissions;
  /// Whether the file is a regular file.
  bool is_regular;
  /// Whether the file is a directory.
  bool is_directory;
};

/// Reads the status of the file at a path. If `follows_link` is true and the file is a symbolic link, reads the status
/// of the file that the link names. Returns 0, or the error number.
int32_t cmonitor_read_status(
    const char *path, bool follows_link, struct cmonitor_file_status *status);

/// Reads the status of an open file. Returns 0, or the error number.
int32_t cmonitor_read_open_status(int32_t file, struct cmonitor_file_status *status);

/// Makes a file accessible only to its owner, who can read and write it.
void cmonitor_make_private(int32_t file);

/// Sets the permissions of a file, such as 0644. Returns 0, or the error number.
int32_t cmonitor_set_permissions(int32_t file, uint32_t permissions);

/// Makes programs that this process starts not inherit an open file.
void cmonitor_close_on_exec(int32_t file);

/// Checks whether this process may write a file; if `is_directory` is true, whether it may create files in the
/// directory. Returns 0, or the error number.
int32_t cmonitor_check_writable(const char *path, bool is_directory);

/// Returns the path with all links resolved; null if the file does not exist. The caller frees the text with
/// cmonitor_free().
char *_Nullable cmonitor_resolved_path(const char *path);

/// Frees a text that a function of this target has returned.
void cmonitor_free(char *text);

/// Renames a file. An existing file at the new path is replaced. Returns 0, or the error number.
int32_t cmonitor_rename(const char *path, const char *new_path);

/// Renames a file, unless a file exists at the new path. If the file system cannot create a second link to the file,
/// replaces an existing file.
/// Returns 0, or the error number.
int32_t cmonitor_rename_without_replacing(const char *path, const char *new_path);

/// Deletes a file. Returns 0, or the error number.
int32_t cmonitor_delete(const char *path);

/// Creates a directory. The process's file mode mask removes permissions. Returns 0, or the error number.
int32_t cmonitor_create_directory(const char *path, uint32_t permissions);

/// Creates a directory to which only its owner has access, unless a file exists at the path. Returns 0 if a file exists
/// at the path now, and otherwise the error number.
int32_t cmonitor_create_private_directory(const char *path);

/// Creates a directory to which only its owner has access. `path` is the beginning of the path and ends with `XXXXXX`.
/// These characters are replaced, so that no file exists at the path. Returns 0, or the error number.
int32_t cmonitor_create_unique_directory(char *path);

/// Deletes an empty directory. Returns 0, or the error number.
int32_t cmonitor_delete_directory(const char *path);

/// An open directory.
typedef struct cmonitor_directory cmonitor_directory;

/// Opens a directory to read the names of its files; null if it cannot be read.
cmonitor_directory *_Nullable cmonitor_open_directory(const char *path);

/// Returns the name of the next file in a directory, without `.` and `..`; null after the last one. The name is valid
/// until the next call.
const char *_Nullable cmonitor_next_name(cmonitor_directory *directory);

/// Closes a directory.
void cmonitor_close_directory(cmonitor_directory *directory);

#pragma clang assume_nonnull end
