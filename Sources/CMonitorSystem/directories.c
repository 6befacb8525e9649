// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#include "CMonitorSystemFiles.h"
#include <dirent.h>
#include <string.h>

cmonitor_directory *cmonitor_open_directory(const char *path) {
  return (cmonitor_directory *)opendir(path);
}

const char *cmonitor_next_name(cmonitor_directory *directory) {
  const struct dirent *entry;
  do {
    entry = readdir((DIR *)directory);
  } while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
  return entry == NULL ? NULL : entry->d_name;
}

void cmonitor_close_directory(cmonitor_directory *directory) { closedir((DIR *)directory); }
