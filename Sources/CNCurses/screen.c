// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#define _GNU_SOURCE 1
#define NCURSES_WIDECHAR 1
#include "internal.h"
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/// The limits of a screen. Larger sizes are reduced to them, because a terminal that reports a larger size is
/// broken or hostile.
enum { most_columns = 1024, most_rows = 512, most_colors = 256 };

static struct {
  SCREEN *screen;
  FILE *input;
  FILE *output;
  int descriptor;
  bool is_unicode;
  bool speaks_ansi;
  /// Whether the terminal reports the mouse while the screen is shown.
  bool reports_mouse;
  int colors;
  /// Whether the ncurses pair `color + 1` is the color `color` on the terminal's default background.
  bool has_pair[most_colors];
} state;

/// Returns whether the requested locale is a UTF-8 locale, installed here or not: a session from another
/// machine often has the name of a locale that this machine does not have.
static bool wants_unicode(void) {
  static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t index = 0; index < sizeof variables / sizeof *variables; index++) {
    const char *value = getenv(variables[index]);
    if (value && *value) {
      return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
  }
  return false;
}

static bool is_locale_unicode(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

/// Returns whether each of the characters for frames and bars takes one cell.
static bool draws_frames(void) {
  for (const wchar_t *at = L"─│┌━┃█▌▁▒░·▲▼…"; *at; at++) {
    if (wcwidth(*at) != 1) {
      return false;
    }
  }
  return true;
}

static bool choose_characters(cncurses_characters characters) {
  bool has_locale = setlocale(LC_CTYPE, "") != NULL;
  bool wanted = characters == CNCURSES_UNICODE
                || (characters == CNCURSES_BY_LOCALE
                    && (has_locale ? is_locale_unicode() : wants_unicode()));
  if (wanted && !is_locale_unicode()) {
    setlocale(LC_CTYPE, "C.UTF-8");
  }
  return wanted && is_locale_unicode() && draws_frames();
}

/// Does nothing, because the signal is blocked and read from a descriptor.
static void receive_nothing(int number) { (void)number; }

/// Creates ncurses' screen, and restores the handlers of the signals that ncurses catches. The handlers of
/// ncurses call functions that are not async-signal-safe.
///
/// If SIGTSTP has the default action, ncurses ignores it during each doupdate(). A SIGTSTP that is pending at
/// the beginning of doupdate() would be discarded, so the program would not stop. ncurses does not change the
/// action if the program has its own handler when the screen is created.
static SCREEN *new_screen(const char *terminal) {
  static const int caught[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
  enum { count = sizeof caught / sizeof *caught };
  struct sigaction actions[count];
  for (size_t index = 0; index < count; index++) {
    sigaction(caught[index], NULL, &actions[index]);
  }
  struct sigaction own = {.sa_handler = receive_nothing};
  sigaction(SIGTSTP, &own, NULL);
  // The size is read only from the terminal, because the variables LINES and COLUMNS may be wrong.
  use_env(FALSE);
  use_tioctl(TRUE);
  SCREEN *screen = newterm(terminal, state.output, state.input);
  if (screen) {
    // Before the first calls of endwin() and doupdate(), ncurses writes to the terminal after each move of
    // the cursor: a frame would be a hundred small writes instead of one. endwin() is called before colors
    // are started, because it would reset their palette.
    endwin();
    doupdate();
  }
  for (size_t index = 0; index < count; index++) {
    sigaction(caught[index], &actions[index], NULL);
  }
  return screen;
}

static bool open_files(int descriptor) {
  int input = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int output = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  state.input = input < 0 ? NULL : fdopen(input, "r");
  state.output = output < 0 ? NULL : fdopen(output, "w");
  if (state.input && state.output) {
    return true;
  }
  if (!state.input && input >= 0) {
    close(input);
  }
  if (!state.output && output >= 0) {
    close(output);
  }
  return false;
}

static void close_files(void) {
  if (state.input) {
    fclose(state.input);
  }
  if (state.output) {
    fclose(state.output);
  }
  state.input = NULL;
  state.output = NULL;
}

/// Returns whether the terminal accepts ANSI sequences. The terminal's description contains neither bracketed
/// paste nor reports of the mouse nor the clipboard, but such a terminal supports them or ignores them.
static bool speaks_ansi(void) {
  const char *place = cncurses_capability("cup");
  return place && place[0] == '\033' && place[1] == '[';
}

static void write_sequence(const char *bytes) {
  if (state.speaks_ansi) {
    fputs(bytes, state.output);
    fflush(state.output);
  }
}

static void bracket_paste(bool is_on) { write_sequence(is_on ? "\033[?2004h" : "\033[?2004l"); }

static void write_mouse(bool is_on) {
  write_sequence(is_on ? CNCURSES_MOUSE_ON : CNCURSES_MOUSE_OFF);
}

static void start_colors(bool uses_color) {
  state.colors = 0;
  memset(state.has_pair, 0, sizeof state.has_pair);
  if (!uses_color || !has_colors() || start_color() != OK) {
    return;
  }
  use_default_colors();
  state.colors = COLORS < 8 ? 0 : COLORS > most_colors ? most_colors : COLORS;
}

cncurses_status cncurses_open(
    int descriptor, const char *terminal, cncurses_characters characters, bool uses_color,
    int held_errors) {
  if (state.screen) {
    return CNCURSES_ALREADY_OPEN;
  }
  cncurses_status status = cncurses_check_terminal(descriptor, terminal);
  if (status != CNCURSES_OPENED) {
    return status;
  }
  state.is_unicode = choose_characters(characters);
  if (!open_files(descriptor)) {
    close_files();
    return CNCURSES_NO_RESOURCES;
  }
  state.descriptor = descriptor;
  // The settings are saved first, because newterm() changes them.
  cncurses_remember_settings(descriptor);
  state.screen = new_screen(terminal);
  if (!state.screen) {
    close_files();
    return CNCURSES_UNKNOWN_TERMINAL;
  }
  state.speaks_ansi = speaks_ansi();
  state.reports_mouse = false;
  cncurses_prepare_restoring(fileno(state.output), held_errors, state.speaks_ansi);
  raw();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  leaveok(stdscr, TRUE);
  // Without this call, ncurses stops drawing a frame when a key is pressed.
  typeahead(-1);
  curs_set(0);
  def_prog_mode();
  start_colors(uses_color);
  bracket_paste(true);
  cncurses_update_size();
  return CNCURSES_OPENED;
}

/// Returns whether the terminal accepts bytes within half a second. A terminal that is stopped, by Ctrl-S or
/// because its window hangs, does not accept bytes. A thread that writes to a stopped terminal blocks until
/// the terminal continues.
static bool takes_output(void) {
  struct pollfd entry = {.fd = state.descriptor, .events = POLLOUT};
  return poll(&entry, 1, 500) > 0;
}

bool cncurses_close(void) {
  if (!state.screen) {
    return false;
  }
  bool is_in_order = takes_output();
  if (is_in_order) {
    cncurses_report_mouse(false);
    bracket_paste(false);
    endwin();
    cncurses_end_restoring();
  } else {
    cncurses_restore_now();
  }
  delscreen(state.screen);
  state.screen = NULL;
  close_files();
  return is_in_order;
}

bool cncurses_is_unicode(void) { return state.is_unicode; }
int cncurses_colors(void) { return state.colors; }
int cncurses_rows(void) { return LINES; }
int cncurses_columns(void) { return COLS; }

static int within(int value, int most) { return value > most ? most : value; }

void cncurses_update_size(void) {
  struct winsize size;
  if (ioctl(state.descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
    // resizeterm() is not used, because it also simulates a key press.
    resize_term(within(size.ws_row, most_rows), within(size.ws_col, most_columns));
  }
  // A terminal may clear or reflow its contents when it is resized, so its contents are unknown.
  cncurses_repaint();
}

static short pair_for(int color) {
  if (color < 0 || color >= state.colors || color + 1 >= COLOR_PAIRS) {
    return 0;
  }
  if (!state.has_pair[color]) {
    init_extended_pair(color + 1, color, -1);
    state.has_pair[color] = true;
  }
  return (short)(color + 1);
}

static bool is_invisible(uint32_t scalar) {
  return (scalar >= 0x200B && scalar <= 0x200F) || (scalar >= 0x2028 && scalar <= 0x202E)
         || (scalar >= 0x2060 && scalar <= 0x206F) || (scalar >= 0xFE00 && scalar <= 0xFE0F)
         || scalar == 0xFEFF || scalar == 0x061C;
}

/// Returns how many cells a scalar takes; 0 for scalars that must not reach the terminal.
static int width_of(uint32_t scalar) {
  if (scalar >= 0x20 && scalar < 0x7F) {
    return 1;
  }
  if (!state.is_unicode || scalar < 0xA0 || is_invisible(scalar)) {
    return 0;
  }
  int width = wcwidth((wchar_t)scalar);
  return width == 1 || width == 2 ? width : 0;
}

static bool is_mark(uint32_t scalar) {
  return state.is_unicode && scalar >= 0x300 && !is_invisible(scalar)
         && wcwidth((wchar_t)scalar) == 0;
}

static attr_t attributes_of(uint8_t bits) {
  return ((bits & CNCURSES_BOLD) ? A_BOLD : 0) | ((bits & CNCURSES_DIM) ? A_DIM : 0)
         | ((bits & CNCURSES_REVERSE) ? A_REVERSE : 0)
         | ((bits & CNCURSES_UNDERLINE) ? A_UNDERLINE : 0);
}

static void set_cell(cchar_t *to, uint32_t scalar, uint32_t mark, const cncurses_cell *style) {
  wchar_t text[3] = {(wchar_t)scalar, (wchar_t)mark, 0};
  int pair = style ? pair_for(style->foreground) : 0;
  setcchar(to, text, style ? attributes_of(style->attributes) : 0, (short)pair, NULL);
}

void cncurses_put_row(int row, const cncurses_cell *cells, size_t count) {
  static cchar_t line[most_columns];
  int columns = within(COLS, most_columns);
  int used = 0;
  for (int column = 0; column < columns; column++) {
    const cncurses_cell *cell = (size_t)column < count ? &cells[column] : NULL;
    if (!cell) {
      set_cell(&line[used++], ' ', 0, NULL);
      continue;
    }
    // The cells specify the width of a character: a wide character is followed by a continuation cell. If the
    // terminal used another width, the rest of the row would be shifted.
    bool is_wide = column + 1 < columns && (size_t)column + 1 < count && cell[1].is_continuation;
    bool is_orphan = cell->is_continuation;
    bool is_sane = !is_orphan && width_of(cell->scalar) == (is_wide ? 2 : 1);
    uint32_t mark = is_sane && is_mark(cell->mark) ? cell->mark : 0;
    set_cell(&line[used++], is_sane ? cell->scalar : is_orphan ? ' ' : '?', mark, cell);
    if (is_wide && is_sane) {
      column++;
    }
  }
  // wadd_wchnstr() merges the window's own attributes into the cells.
  wattr_set(stdscr, A_NORMAL, 0, NULL);
  if (wmove(stdscr, row, 0) == OK) {
    wadd_wchnstr(stdscr, line, used);
  }
}

void cncurses_show(void) {
  wnoutrefresh(stdscr);
  doupdate();
}

void cncurses_repaint(void) { clearok(curscr, TRUE); }

void cncurses_bell(void) { beep(); }

void cncurses_report_mouse(bool is_on) {
  if (!state.speaks_ansi || state.reports_mouse == is_on) {
    return;
  }
  state.reports_mouse = is_on;
  // The note is removed last and made first, so that a signal between the two calls restores the terminal.
  if (is_on) {
    cncurses_note_mouse(true);
  }
  write_mouse(is_on);
  if (!is_on) {
    cncurses_note_mouse(false);
  }
}

void cncurses_write(const char *bytes) { write_sequence(bytes); }

void cncurses_leave(void) {
  if (state.reports_mouse) {
    write_mouse(false);
  }
  bracket_paste(false);
  endwin();
}

void cncurses_enter(void) {
  reset_prog_mode();
  bracket_paste(true);
  if (state.reports_mouse) {
    write_mouse(true);
  }
  cncurses_update_size();
  cncurses_show();
}

const char *cncurses_key_sequence(const char *capability) {
  return cncurses_capability(capability);
}
