// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include "CNCurses.h"

/// What the terminal's description says, before there is a screen.
cncurses_status cncurses_check_terminal(int descriptor, const char *terminal);
/// A string of the terminal's description; NULL where it has none.
const char *cncurses_capability(const char *name);

/// Remembers how the terminal is now, prepares the bytes that bring it back, and catches the fatal
/// signals. `brackets_paste` says whether bracketed paste is going to be on.
void cncurses_prepare_restoring(int descriptor, int held_errors, bool brackets_paste);
/// Lets descriptor 2 be what it was, prints what was held, and lets go of the fatal signals.
void cncurses_end_restoring(void);
