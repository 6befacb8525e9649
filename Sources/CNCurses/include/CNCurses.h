// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Draws a terminal screen with ncurses: the functions receive rows of cells and show them. They do not read
// keys.
//
// There is one screen at a time, and only one thread may use it, except for cncurses_restore_now(). Files
// that include this header see no macro of <curses.h>.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How a cell is drawn, as bits. Attributes that the terminal does not have are ignored.
enum {
  CNCURSES_BOLD = 1,
  CNCURSES_DIM = 2,
  CNCURSES_REVERSE = 4,
  CNCURSES_UNDERLINE = 8,
};

/// One character position.
typedef struct {
  /// A character of width 1 or 2. Any other character is drawn as a question mark.
  uint32_t scalar;
  /// A combining mark, or 0.
  uint32_t mark;
  /// The number of a color, below cncurses_colors(), or -1 for the terminal's default color.
  int16_t foreground;
  /// How the cell is drawn: CNCURSES_BOLD, CNCURSES_DIM, CNCURSES_REVERSE and CNCURSES_UNDERLINE, combined.
  uint8_t attributes;
  /// Whether the cell is the right half of the character to its left, which has width 2.
  bool is_continuation;
} cncurses_cell;

/// The result of cncurses_open().
typedef enum {
  CNCURSES_OPENED = 0,
  /// A screen is open already.
  CNCURSES_ALREADY_OPEN = 1,
  /// The descriptor is not a terminal.
  CNCURSES_NOT_A_TERMINAL = 2,
  /// TERM is unset, empty, or names an unknown terminal.
  CNCURSES_UNKNOWN_TERMINAL = 3,
  /// The terminal cannot place its cursor.
  CNCURSES_TOO_DUMB = 4,
  /// The system did not provide memory or a file descriptor.
  CNCURSES_NO_RESOURCES = 5,
} cncurses_status;

/// The characters that may be drawn.
typedef enum {
  /// The locale decides: Unicode if its encoding is UTF-8, otherwise ASCII.
  CNCURSES_BY_LOCALE = 0,
  CNCURSES_ASCII = 1,
  CNCURSES_UNICODE = 2,
} cncurses_characters;

/// Returns whether ncurses can show a screen on a terminal: CNCURSES_OPENED if it can. The terminal does not
/// change. Call the function before a screen exists. `terminal` is as in cncurses_open().
cncurses_status cncurses_check_terminal(int descriptor, const char *terminal);

/// Takes over a terminal: raw mode, the alternate screen, no cursor, bracketed paste. The function also sets
/// the process's LC_CTYPE. `terminal` is the terminal's type, or NULL for the type in TERM.
///
/// If `held_errors` is not negative, it replaces descriptor 2 until the screen is closed; the text that was
/// written into it is then printed. The caller keeps ownership of the descriptor.
cncurses_status cncurses_open(
    int descriptor, const char *terminal, cncurses_characters characters, bool uses_color,
    int held_errors);
/// Restores the terminal to its state before cncurses_open(). A second call is harmless. Returns false if no
/// screen was open, or if the terminal accepts no bytes at present. In the second case the function restores
/// everything that it can restore without waiting for the terminal.
bool cncurses_close(void);

/// Returns whether characters beyond ASCII are drawn.
bool cncurses_is_unicode(void);
/// Returns the number of colors that the screen uses; 0 if color is off.
int cncurses_colors(void);
/// Returns the number of rows of the screen, as of the last cncurses_update_size().
int cncurses_rows(void);
/// Returns the number of columns of the screen, as of the last cncurses_update_size().
int cncurses_columns(void);
/// Reads the terminal's size, and clears the screen; everything has to be drawn again.
void cncurses_update_size(void);

/// Writes a whole row into the next frame. Cells beyond the screen are cut, and a short row is filled with
/// spaces.
void cncurses_put_row(int row, const cncurses_cell *cells, size_t count);
/// Writes the differences between the next frame and the previous frame to the terminal.
void cncurses_show(void);
/// Makes the next cncurses_show() write the whole frame.
void cncurses_repaint(void);
/// Rings the terminal's bell.
void cncurses_bell(void);

/// Makes the terminal report the buttons and the wheel of the mouse as input, or no longer report them. Leaving,
/// closing and restoring the screen also end the reports, and entering it again continues them. A terminal that does
/// not accept ANSI sequences has no such reports.
void cncurses_report_mouse(bool is_on);
/// Writes a control sequence that does not change the screen. A terminal that does not accept ANSI sequences does not
/// get it.
void cncurses_write(const char *bytes);

/// Restores the terminal until cncurses_enter() takes it over again.
void cncurses_leave(void);
/// Takes over the terminal again after cncurses_leave(). Its size may have changed.
void cncurses_enter(void);

/// Returns the bytes that a key sends according to the terminal's description, for a capability such as
/// "kcuu1"; NULL if the description does not contain the key. The result is valid until the screen is closed.
const char *cncurses_key_sequence(const char *capability);

/// Restores the terminal at once with bytes that cncurses_open() has prepared, and prints the text that was
/// written to descriptor 2 while the screen was open. Any thread and any signal handler may call the
/// function. Only the first call has an effect. The process must end after this call.
void cncurses_restore_now(void);
