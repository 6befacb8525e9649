// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemTime.h"
#include <time.h>
#include <unistd.h>

struct cmonitor_date cmonitor_utc_date(int64_t seconds) {
  time_t moment = (time_t)seconds;
  struct tm parts = {0};
  gmtime_r(&moment, &parts);
  return (struct cmonitor_date){
      .year = parts.tm_year + 1900,
      .month = parts.tm_mon + 1,
      .day = parts.tm_mday,
      .hour = parts.tm_hour,
      .minute = parts.tm_min,
      .second = parts.tm_sec,
  };
}

int64_t cmonitor_ticks_per_second(void) {
  long ticks = sysconf(_SC_CLK_TCK);
  return ticks > 0 ? ticks : 1;
}

void cmonitor_sleep(int64_t nanoseconds) {
  const struct timespec pause = {.tv_nsec = (long)nanoseconds};
  nanosleep(&pause, NULL);
}
