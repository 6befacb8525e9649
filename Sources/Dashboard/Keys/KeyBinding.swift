// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A decoded key press, a pasted text, or an action of the mouse.
public enum Input: Sendable, Hashable {
  /// The user typed a character, which may be a space.
  case character(Unicode.Scalar)
  /// The user typed a letter with Control. The letter is in lower case: Ctrl-C is `control("c")`.
  case control(Unicode.Scalar)
  /// The user typed a character with Alt.
  case alt(Unicode.Scalar)
  /// The user pressed a key that has a name.
  case key(Key)
  /// The user pressed a function key, F1 to F12.
  case function(Int)
  /// The user pasted a text. A pasted text is never interpreted as commands.
  case paste(String)
  /// The user pressed a button of the mouse or moved its wheel.
  case mouse(MouseInput)
}

/// A key that has a name.
public enum Key: Sendable, Hashable, CaseIterable {
  case up, down, left, right, home, end, pageUp, pageDown
  case enter, escape, backspace, delete, insert, tab, backTab
}

/// An action of the mouse at a cell of the screen.
public struct MouseInput: Sendable, Hashable {
  /// What the user did with the mouse.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// The user pressed the left button.
    case press
    /// The user turned the wheel up by one step.
    case wheelUp
    /// The user turned the wheel down by one step.
    case wheelDown
  }

  /// What the user did with the mouse.
  public var kind: Kind
  /// The row of the cell, from 0 for the top row. The row may be outside the screen, because the terminal may have
  /// become smaller.
  public var row: Int
  /// The column of the cell, from 0 for the leftmost column. The column may be outside the screen.
  public var column: Int

  /// Creates an action at a cell.
  public init(_ kind: Kind, row: Int, column: Int) {
    self.kind = kind
    self.row = row
    self.column = column
  }
}

/// The part of the screen that receives a key press. It is always the topmost part.
enum KeyContext: Sendable, Hashable, CaseIterable {
  case list, tree, queues, timeline, events, detail, log, warnings, picker, help, question
  case queue, groups, setup
}

/// One or several keys with the same action, and the texts for them in help and footers.
struct KeyBinding: Sendable {
  /// The groups of keys in the help. The raw value is the heading of the group.
  enum Group: String, Sendable, CaseIterable {
    case moving = "Moving"
    case looking = "Looking"
    case acting = "Acting"
    case program = "The program"
  }

  /// The action that the keys perform.
  let action: KeyAction
  /// The keys that have the action.
  let inputs: [Input]
  /// The contexts in which the keys have this action.
  let contexts: Set<KeyContext>
  /// The label of the keys in the help, in ASCII.
  let label: String
  /// The description of the action in the help.
  let help: String
  /// The group of the help in which the keys are listed.
  let group: Group
  /// The name of the key in footers; empty if the key is in no footer.
  let footerKey: String
  /// The description of the action for the footer of each context. In a context without a description, the
  /// key is not in the footer.
  let footerWords: [KeyContext: String]
  /// Whether the action changes the monitored process. A read-only dashboard does not perform such an action.
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
