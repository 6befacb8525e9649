// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the user can limit the rate at which a queue starts operations.
  static let rates = false
}

extension Dashboard {
  /// Opens the prompt for the rate at which a queue starts operations. The prompt contains the present limit.
  /// If the process cannot change the rate, shows the reason instead.
  mutating func openRatePrompt(for queue: QueueReport) -> [Effect] { [.bell] }

  /// Requests the rate that the user has typed, and closes the prompt. If the text is not a rate, the prompt stays
  /// open.
  mutating func acceptRate(_ text: String, of id: QueueReport.ID) -> [Effect] {
    prompts.text = nil
    return []
  }

  /// Returns the text before the typed rate of a queue, such as `rate of cpu: `.
  func rateLabel(of id: QueueReport.ID, _ glyphs: Glyphs) -> String {
    let name = shown.queue(id)?.label ?? ""
    return "rate of \(glyphs.clipped(name, to: 20)): "
  }

  /// The remark after the typed rate; `nil` for the usual remark about the keys that close the prompt.
  var rateRemark: (text: String, role: Role)? { nil }
}
