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

/// Where a key is pressed: what lies on top.
enum KeyContext: Sendable, Hashable, CaseIterable {
  case list, tree, queues, timeline, events, detail, picker, help, question
}

/// A key, or several that do the same, and what help and footers say about it.
struct KeyBinding: Sendable {
  /// Under which heading of the help it stands.
  enum Group: String, Sendable, CaseIterable {
    case moving = "Moving"
    case looking = "Looking"
    case acting = "Acting"
    case program = "The program"
  }

  /// What the keys do.
  let action: KeyAction
  /// The keys.
  let inputs: [Input]
  /// Where they do it.
  let contexts: Set<KeyContext>
  /// The keys in words, in ASCII.
  let label: String
  /// What they do, in words.
  let help: String
  /// Under which heading of the help they stand.
  let group: Group
  /// The key as the footers name it; empty where none does.
  let footerKey: String
  /// What the footers of its contexts say; a context without words does not name it.
  let footerWords: [KeyContext: String]
  /// Whether the monitored process is changed, which a read-only viewer does not do.
  let changesProcess: Bool

  init(
    _ action: KeyAction, _ inputs: [Input], in contexts: Set<KeyContext>, label: String,
    help: String, group: Group, footer: (key: String, words: [KeyContext: String]) = ("", [:]),
    changesProcess: Bool = false
  ) {
    self.action = action
    self.inputs = inputs
    self.contexts = contexts
    self.label = label
    self.help = help
    self.group = group
    footerKey = footer.key
    footerWords = footer.words
    self.changesProcess = changesProcess
  }
}
