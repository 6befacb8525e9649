// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Availability {
  /// Whether the screen shows a bar with the position in a recording.
  static let replayBar = false
}

/// The bar that shows the position in a recording, and the moments of warnings and failures.
struct ReplayBar {
  private let status: ReplayStatus
  private let columns: Range<Int>

  /// Creates a bar in these columns of the screen.
  init(_ status: ReplayStatus, columns: Range<Int>) {
    self.status = status
    self.columns = columns
  }

  /// Returns the time since the beginning of the recording at a column of the screen; `nil` if the bar does not
  /// contain the column.
  func time(at column: Int) -> Duration? { nil }

  func draw(row: Int, on canvas: inout Canvas) {}
}

extension Availability {
  /// Whether the user can type the time of the recording to show.
  static let replayTimes = false
}

extension Dashboard {
  /// Opens the prompt for the time of the recording to show.
  mutating func openTimePrompt() -> [Effect] { [.bell] }

  /// Goes to the time that the user has typed, and closes the prompt. If the text is not a time of the recording, the
  /// prompt stays open.
  mutating func acceptTime(_ text: String) -> [Effect] {
    prompts.text = nil
    return []
  }

  /// The remark after the typed time; `nil` for the usual remark about the keys that close the prompt.
  var timeRemark: (text: String, role: Role)? { nil }
}
