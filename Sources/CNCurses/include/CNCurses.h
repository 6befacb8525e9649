// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The part of ncurses that draws: it takes rows of cells and shows them. Keys are not read here.
//
// One screen at a time, and one thread, save for cncurses_restore_now(). No macro of <curses.h> is
// seen by whoever includes this.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How a cell is drawn, as bits. What the terminal cannot do is left out.
enum {
  CNCURSES_BOLD = 1,
  CNCURSES_DIM = 2,
  CNCURSES_REVERSE = 4,
  CNCURSES_UNDERLINE = 8,
};

/// One character position.
typedef struct {
  /// A character of width 1 or 2. Anything else is drawn as a question mark.
  uint32_t scalar;
  /// A combining mark, or 0.
  uint32_t mark;
  /// A colour below cncurses_colors(), or -1 for the terminal's own.
  int16_t foreground;
  /// Bits of CNCURSES_BOLD and its like.
  uint8_t attributes;
  /// Whether the character to the left, of width 2, reaches over this cell.
  bool is_continuation;
} cncurses_cell;

/// What came of cncurses_open().
typedef enum {
  CNCURSES_OPENED = 0,
  /// There is a screen already.
  CNCURSES_ALREADY_OPEN = 1,
  /// The descriptor is not a terminal.
  CNCURSES_NOT_A_TERMINAL = 2,
  /// TERM is unset, empty, or names no terminal that is known.
  CNCURSES_UNKNOWN_TERMINAL = 3,
  /// The terminal cannot place its cursor.
  CNCURSES_TOO_DUMB = 4,
  /// The system refused memory or a descriptor.
  CNCURSES_NO_RESOURCES = 5,
} cncurses_status;

/// Which characters may be drawn.
typedef enum {
  /// Those of the locale.
  CNCURSES_BY_LOCALE = 0,
  CNCURSES_ASCII = 1,
  CNCURSES_UNICODE = 2,
} cncurses_characters;

/// Takes over a terminal: raw mode, the alternate screen, no cursor, bracketed paste. Sets the
/// process's LC_CTYPE. `terminal` is the terminal's type, or NULL for that of TERM.
///
/// `held_errors`, where not negative, stands in for descriptor 2 until the screen is closed; what
/// was written into it is then printed. It stays the caller's.
cncurses_status cncurses_open(
    int descriptor, const char *terminal, cncurses_characters characters, bool uses_color,
    int held_errors);
/// Gives the terminal back as it was found. Twice is harmless. Returns false where there was none, or
/// where it takes no bytes at present: then all is brought back that can be without waiting for it.
bool cncurses_close(void);

/// Whether characters beyond ASCII are drawn.
bool cncurses_is_unicode(void);
/// How many colours there are: 0 where colour is off.
int cncurses_colors(void);
/// How many rows the screen has, as of the last cncurses_update_size().
int cncurses_rows(void);
/// How many columns the screen has, as of the last cncurses_update_size().
int cncurses_columns(void);
/// Asks the terminal for its size, and clears the screen; everything has to be drawn again.
void cncurses_update_size(void);

/// Puts a row, all of it, on the next frame. What is beyond the screen is cut, what is short is
/// filled with spaces.
void cncurses_put_row(int row, const cncurses_cell *cells, size_t count);
/// Writes what has changed since the frame before.
void cncurses_show(void);
/// Makes the next cncurses_show() write everything, whatever the terminal is thought to show.
void cncurses_repaint(void);
/// Rings the terminal's bell.
void cncurses_bell(void);

/// Gives the terminal back for a while; cncurses_enter() takes it again.
void cncurses_leave(void);
/// Takes the terminal again after cncurses_leave(). Its size may be another.
void cncurses_enter(void);

/// The bytes that a key sends by the terminal's description, for a capability such as "kcuu1"; NULL
/// where it sends none. Valid until the screen is closed.
const char *cncurses_key_sequence(const char *capability);

/// Gives the terminal back at once with bytes prepared when it was opened, and prints the held
/// errors. Any thread, and any signal handler, may call it; only the first call does something. The
/// process has to end after it.
void cncurses_restore_now(void);
