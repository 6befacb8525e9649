// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include "CNCurses.h"

/// The sequences that switch the reports of the mouse on and off: of buttons and the wheel (1000), in the form whose
/// coordinates have no limit (1006).
#define CNCURSES_MOUSE_ON "\033[?1000h\033[?1006h"
#define CNCURSES_MOUSE_OFF "\033[?1006l\033[?1000l"

/// Returns the value of a capability in the terminal's description; NULL if the description does not contain
/// it.
const char *cncurses_capability(const char *name);

/// Saves the present settings of a terminal, to restore them later.
void cncurses_remember_settings(int descriptor);
/// Prepares the bytes that restore the terminal, holds the text that is written to standard error, and
/// catches the fatal signals. `drawing` is the descriptor that ncurses writes to; after the terminal was
/// restored, nothing that is written to it reaches the terminal. `brackets_paste` is true if bracketed paste
/// will be on.
void cncurses_prepare_restoring(int drawing, int held_errors, bool brackets_paste);
/// Notes whether the terminal reports the mouse, so that restoring it also switches these reports off.
void cncurses_note_mouse(bool is_on);
/// Restores descriptor 2, prints the text that was written to it since cncurses_prepare_restoring(), and no
/// longer catches the fatal signals.
void cncurses_end_restoring(void);
