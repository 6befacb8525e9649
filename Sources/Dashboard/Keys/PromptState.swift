// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What has to be answered or typed before keys mean again what they mean in the view.
struct PromptState: Sendable {
  var question: Question?
  /// The number of an operation that is being typed.
  var goTo: GoToPrompt?
  /// The line of text that is being typed; `nil` if there is none.
  var text: TextPrompt?
  /// Whether a letter chooses what to sort by.
  var isChoosingOrder = false
}

/// A line of text that is being typed.
struct TextPrompt: Sendable, Equatable {
  /// What the text is for.
  enum Purpose: Sendable, Equatable {
    /// Which operations are listed. What held before is put back when it is given up.
    case filter(before: OperationFilter?)
    /// Which operation is looked for. Where the selection was is gone back to when it is given up.
    case search
  }

  /// Longer texts are cut.
  static let limit = 200

  /// What the text is for.
  let purpose: Purpose
  /// What was typed so far.
  private(set) var text: String

  /// Begins with a text.
  init(_ purpose: Purpose, text: String = "") {
    self.purpose = purpose
    self.text = text
  }

  /// Adds what was typed or pasted: what is no character of a line becomes a space.
  mutating func append(_ more: some Sequence<Unicode.Scalar>) {
    for scalar in more where text.unicodeScalars.count < Self.limit {
      let isControl = scalar.properties.generalCategory == .control
      text.unicodeScalars.append(isControl ? " " : scalar)
    }
  }

  /// Takes the last character back.
  mutating func removeLast() { text = String(text.dropLast()) }

  /// Takes the last word back, with the spaces behind it.
  mutating func removeLastWord() {
    var rest = text[...]
    while rest.last == " " { rest.removeLast() }
    while let last = rest.last, last != " " { rest.removeLast() }
    text = String(rest)
  }

  /// Takes everything back.
  mutating func removeAll() { text = "" }
}
