// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A key press, decoded.
public enum Input: Sendable, Hashable {
  /// A character that was typed, `" "` included.
  case character(Unicode.Scalar)
  /// A character typed with Control, as its lower-case letter: Ctrl-C is `control("c")`.
  case control(Unicode.Scalar)
  /// A character typed with Alt.
  case alt(Unicode.Scalar)
  /// A key that has a name.
  case key(Key)
  /// F1 to F12.
  case function(Int)
  /// Text pasted as a whole; never to be read as commands.
  case paste(String)
}

/// A key that has a name.
public enum Key: Sendable, Hashable, CaseIterable {
  case up, down, left, right, home, end, pageUp, pageDown
  case enter, escape, backspace, delete, insert, tab, backTab
}
