// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The open questions and prompts, which receive key presses before the view does.
struct PromptState: Sendable {
  var question: Question?
  /// The prompt for the number of an operation; `nil` if the user is not typing a number.
  var goTo: GoToPrompt?
  /// The prompt for a filter or a search text; `nil` if the user is typing neither.
  var text: TextPrompt?
  /// Whether the next letter selects the column to sort by.
  var isChoosingOrder = false
}

/// A prompt in which the user types a line of text.
struct TextPrompt: Sendable, Equatable {
  /// The purpose of a typed text.
  enum Purpose: Sendable, Equatable {
    /// The user types a filter of the list. If the user cancels the prompt, the previous filter is
    /// restored.
    case filter(before: OperationFilter?)
    /// The user types a text to search for. If the user cancels the prompt, the previous selection
    /// is restored.
    case search
    /// The user types a text to search for on the log screen. If the user cancels the prompt, the
    /// previous lines are shown again.
    case logSearch
    /// The user types the maximum rate at which this queue starts operations.
    case rate(QueueReport.ID)
    /// The user types the time of the recording to show.
    case time
  }

  /// The maximum length of a typed text. Longer texts are cut.
  static let limit = 200

  /// The purpose of the typed text.
  let purpose: Purpose
  /// The text that the user has typed so far.
  private(set) var text: String
  /// The text that the prompt contained at first.
  let initialText: String

  /// Creates a prompt that already contains a text.
  init(_ purpose: Purpose, text: String = "") {
    self.purpose = purpose
    initialText = text
    self.text = text
  }

  /// Appends typed or pasted text. Each control character becomes a space.
  mutating func append(_ more: some Sequence<Unicode.Scalar>) {
    for scalar in more where text.unicodeScalars.count < Self.limit {
      let isControl = scalar.properties.generalCategory == .control
      text.unicodeScalars.append(isControl ? " " : scalar)
    }
  }

  /// Removes the last character of the typed text.
  mutating func removeLast() { text = String(text.dropLast()) }

  /// Removes the last word of the typed text, and the spaces after the word.
  mutating func removeLastWord() {
    var rest = text[...]
    while rest.last == " " { rest.removeLast() }
    while let last = rest.last, last != " " { rest.removeLast() }
    text = String(rest)
  }

  /// Removes the whole typed text.
  mutating func removeAll() { text = "" }
}
