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
  /// Text pasted as a whole. It is never interpreted as commands.
  case paste(String)
}

/// A key that has a name.
public enum Key: Sendable, Hashable, CaseIterable {
  case up, down, left, right, home, end, pageUp, pageDown
  case enter, escape, backspace, delete, insert, tab, backTab
}

/// The context in which a key is pressed: the topmost part of the screen.
enum KeyContext: Sendable, Hashable, CaseIterable {
  case list, tree, queues, timeline, events, detail, picker, help, question
}

/// A key, or several keys with the same action, and their texts in help and footers.
struct KeyBinding: Sendable {
  /// The heading of the help below which it is listed.
  enum Group: String, Sendable, CaseIterable {
    case moving = "Moving"
    case looking = "Looking"
    case acting = "Acting"
    case program = "The program"
  }

  /// The action of the keys.
  let action: KeyAction
  /// The keys.
  let inputs: [Input]
  /// The contexts in which the keys have this action.
  let contexts: Set<KeyContext>
  /// The label of the keys, in ASCII.
  let label: String
  /// The description in the help.
  let help: String
  /// The heading of the help below which the keys are listed.
  let group: Group
  /// The name of the key in footers; empty if no footer names it.
  let footerKey: String
  /// The texts for the footers of its contexts. The footer of a context without a text does not name the key.
  let footerWords: [KeyContext: String]
  /// Whether the action changes the monitored process. A read-only viewer does not perform it.
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
