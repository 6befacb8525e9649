// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include "CNCurses.h"

/// Checks the terminal's description. Called before a screen exists.
cncurses_status cncurses_check_terminal(int descriptor, const char *terminal);
/// Returns a string of the terminal's description; NULL if it has none.
const char *cncurses_capability(const char *name);

/// Saves the present settings of a terminal, to restore them later.
void cncurses_remember_settings(int descriptor);
/// Prepares the bytes that restore the terminal, holds the text that is written to standard error, and
/// catches the fatal signals. `drawing` is the descriptor that ncurses writes to; after the terminal was
/// restored, nothing that is written to it reaches the terminal. `brackets_paste` says whether bracketed paste
/// will be on.
void cncurses_prepare_restoring(int drawing, int held_errors, bool brackets_paste);
/// Restores descriptor 2, prints the held text, and no longer catches the fatal signals.
void cncurses_end_restoring(void);
