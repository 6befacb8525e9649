// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The system calls for commands: their files and pipes, the process group of a command, and the number of file
// descriptors of this process.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Opens a file that a command reads. Does not wait for the other end of a FIFO. Returns the descriptor, which is at
/// least 3 and is closed in programs that this process executes, or the negative error number.
int csystem_open_input(const char *path);

/// Opens a file that a command writes, and creates it if it does not exist. `appends` decides whether the command
/// writes after the contents of the file, or the file is emptied. The result is that of csystem_open_input().
int csystem_open_output(const char *path, bool appends);

/// Creates a file in memory that contains these bytes, for the input of a command. The position of the descriptor is 0.
/// The result is that of csystem_open_input().
int csystem_open_memory(const void *bytes, size_t count);

/// Writes a time in the time zone of the process as text, for example 14:05, or 2026-11-28 14:05 with the date.
/// `seconds` is the time in seconds since 1970-01-01T00:00:00Z. The text ends with a NUL character, and is empty if it
/// does not fit.
void csystem_format_time(int64_t seconds, bool has_date, char *text, size_t capacity);

/// Creates a pipe for the output of a command. Reading from the first end does not block. Both descriptors have the
/// properties of those of csystem_open_input(). Returns 0 or the error number.
int csystem_open_pipe(int *read_end, int *write_end);

/// Reads the bytes that a pipe contains at this moment, at most `capacity`. Returns their number, 0 if no process can
/// write to the pipe and all bytes were read, -1 if the pipe is empty, or -2 if it cannot be read.
intptr_t csystem_read_pipe(int pipe, void *buffer, size_t capacity);

/// Opens a watch, with which one thread waits for many descriptors. The result is that of csystem_open_input().
int csystem_open_watch(void);

/// Adds a descriptor to a watch. csystem_wait_for_descriptors() returns the number once, when reading from the descriptor
/// does not block: it has data, its end or an error. Returns 0 or the error number.
int csystem_watch_descriptor(int watch, int descriptor, uint64_t number);

/// Removes a descriptor from a watch.
void csystem_unwatch_descriptor(int watch, int descriptor);

/// Waits until a descriptor of a watch is ready, and writes the numbers of the ready ones, at most `capacity` and 64.
/// Returns how many it has written; -1 if `watch` is not a watch.
int32_t csystem_wait_for_descriptors(int watch, uint64_t *numbers, int32_t capacity);

/// Returns whether reading from a descriptor does not block at this moment. The result is also true if it is not open.
bool csystem_is_readable(int descriptor);

/// Returns the size of an open file in bytes; -1 if it has no size.
int64_t csystem_file_size(int file);

/// Reads at most `capacity` bytes from a position in a file. Returns their number; 0 at the end of the file and if
/// the file cannot be read.
size_t csystem_read_file_at(int file, void *buffer, size_t capacity, int64_t position);

/// Returns whether an error number means that this process or the system has no free file descriptor.
bool csystem_is_out_of_descriptors(int error);

/// Returns whether an error number means that a file, or a folder of its path, does not exist.
bool csystem_is_not_found(int error);

/// Returns the number of open file descriptors of this process; -1 if it is unknown.
int64_t csystem_open_descriptor_count(void);

/// Returns how many file descriptors this process may have at the same time.
int64_t csystem_descriptor_limit(void);

/// Sends SIGTERM to the members of a process group, and continues the stopped ones, so that they can handle it.
void csystem_terminate_group(int32_t group);

/// Sends SIGKILL to the members of a process group.
void csystem_kill_group(int32_t group);

/// Sends SIGKILL to a process.
void csystem_kill_process(int32_t process);

/// Returns the number of processes in a process group, without the processes that have ended and were not reaped; -1
/// if it is unknown.
int32_t csystem_living_member_count(int32_t group);

/// Reaps a child of this process if it has ended. Does not wait. Returns whether this process has no such child now.
bool csystem_reap(int32_t child);

/// Returns the name of a signal, such as "SIGTERM"; null if the signal has no name.
const char *_Nullable csystem_signal_name(int32_t signal);

#pragma clang assume_nonnull end
