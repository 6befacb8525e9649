// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Finds the first occurrence of `part` in `text`, or the last one if `finds_last` is true. ASCII letters match in upper
/// and lower case. Returns the offset; -1 if there is no occurrence, or if `part` is empty. It is written in C because
/// it reads large files also in a debug build.
intptr_t cmonitor_find_ignoring_case(
    const void *text, size_t count, const void *part, size_t part_count, bool finds_last);

/// Returns the number of bytes at the beginning of a text that a terminal shows as they are: printable ASCII characters,
/// tabs and line feeds. It is written in C because it reads large files also in a debug build.
size_t cmonitor_plain_length(const void *_Nullable text, size_t count);

#pragma clang assume_nonnull end
