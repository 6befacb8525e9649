// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Files that several processes share, or that must survive the end of the system.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// ENOTEMPTY: the directory is not empty.
extern const int32_t cmonitor_error_directory_not_empty;

/// Opens a file for reading and writing, and creates it if it does not exist. Only its owner can read and write a new
/// file, also if the process's file mode mask removes these permissions. Programs that this process starts do not
/// inherit the file. Returns the descriptor, which is above 2, or the negative error number.
int32_t cmonitor_open_private_file(const char *path);

/// Creates a directory to which only its owner has access, also if the process's file mode mask removes permissions of
/// the owner. Returns 0, or the error number, which is EEXIST if a file exists at the path.
int32_t cmonitor_create_new_private_directory(const char *path);

/// Locks an open file with flock(2), or changes its lock. Does not wait. `is_shared` decides whether other open files
/// can have a shared lock on the same file at the same time. The lock ends when all descriptors of the open file are
/// closed. Returns 0, or the error number, which is EAGAIN if another open file has a lock.
int32_t cmonitor_lock(int32_t file, bool is_shared);

/// Ends the lock of an open file.
void cmonitor_unlock(int32_t file);

/// Waits until the contents and the size of an open file are on the disk. Returns 0, or the error number.
int32_t cmonitor_sync(int32_t file);

/// Waits until the names of the files in a directory are on the disk. Returns 0 also if the file system cannot do
/// this. Otherwise returns the error number.
int32_t cmonitor_sync_directory(const char *path);

/// Sets the size of an open file. Returns 0, or the error number.
int32_t cmonitor_set_size(int32_t file, int64_t size);

/// Deletes a file, or a directory with its contents. Does not follow symbolic links. Returns 0, or the number of the
/// first error.
int32_t cmonitor_delete_tree(const char *path);

/// Returns the path of the working directory; null if it is unknown. The caller frees the text with cmonitor_free().
char *_Nullable cmonitor_working_directory(void);

/// Returns the name of this machine; null if it is unknown. The caller frees the text with cmonitor_free().
char *_Nullable cmonitor_host_name(void);

#pragma clang assume_nonnull end
