// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Reads the terminal's description. <term.h> defines macros such as `lines` and `columns`, so no other file
// includes it.
#define _GNU_SOURCE 1
#include "internal.h"
#include <curses.h>
#include <term.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cncurses_status cncurses_check_terminal(int descriptor, const char *terminal) {
  if (!isatty(descriptor)) {
    return CNCURSES_NOT_A_TERMINAL;
  }
  const char *type = terminal ? terminal : getenv("TERM");
  if (!type || !*type) {
    return CNCURSES_UNKNOWN_TERMINAL;
  }
  int found = 0;
  if (setupterm(type, descriptor, &found) != OK) {
    // The value 0 means that the terminal's description is too general to be used, such as "dumb" or
    // "unknown".
    return found == 0 && strcmp(type, "dumb") == 0 ? CNCURSES_TOO_DUMB : CNCURSES_UNKNOWN_TERMINAL;
  }
  bool places_cursor = cncurses_capability("cup") != NULL;
  del_curterm(cur_term);
  return places_cursor ? CNCURSES_OPENED : CNCURSES_TOO_DUMB;
}

const char *cncurses_capability(const char *name) {
  const char *value = tigetstr(name);
  return value == (const char *)-1 || (value && !*value) ? NULL : value;
}
