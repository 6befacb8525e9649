// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdint.h>

/// A date and a time of day in UTC.
struct cmonitor_date {
  int32_t year;
  /// From 1 to 12.
  int32_t month;
  /// From 1 to 31.
  int32_t day;
  int32_t hour, minute, second;
};

/// Returns the date and the time of day of a number of seconds since 1970-01-01T00:00:00Z.
struct cmonitor_date cmonitor_utc_date(int64_t seconds);

/// Returns the number of clock ticks per second in which the kernel measures the start times of processes; at least 1.
int64_t cmonitor_ticks_per_second(void);

/// Blocks the calling thread for a duration, or until a signal interrupts the call. The duration is less than a second.
void cmonitor_sleep(int64_t nanoseconds);
