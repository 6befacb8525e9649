// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

extension Dashboard.Configuration {
  /// A configuration with the mouse.
  static var withMouse: Self {
    var configuration = Self(title: "tiles")
    configuration.settings.usesMouse = true
    return configuration
  }
}

extension Dashboard {
  /// Presses the left button at a cell of the screen. Returns all effects.
  @discardableResult
  mutating func click(row: Int, column: Int) -> [Effect] {
    take(.input(.mouse(MouseInput(.press, row: row, column: column))))
  }

  /// Presses the left button at the first cell of the first occurrence of a text on the screen. Returns all effects;
  /// `nil` if the screen does not show the text.
  @discardableResult
  mutating func click(_ text: String, lastRow: Bool = false) -> [Effect]? {
    let rows = picture().text.enumerated().filter { $0.element.contains(text) }
    guard let (row, line) = lastRow ? rows.last : rows.first,
      let range = line.firstRange(of: text)
    else { return nil }
    let column = TerminalText.width(of: String(line[..<range.lowerBound]))
    return click(row: row, column: column)
  }

  /// Turns the wheel by one step. Returns all effects.
  @discardableResult
  mutating func turnWheel(_ kind: MouseInput.Kind, row: Int = 10) -> [Effect] {
    take(.input(.mouse(MouseInput(kind, row: row, column: 5))))
  }

  /// The text of the row with the selection mark; `nil` if the screen shows no selection.
  var selectedRowText: String? { text().first { $0.hasPrefix("▌") } }
}

extension Dashboard {
  /// Draws a frame, and notes that the terminal shows it.
  mutating func show() {
    noteShown(frame(size: screen.size, capabilities: Capabilities(isUnicode: true)))
  }
}
