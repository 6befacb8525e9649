// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How long the program's thread worked for each frame: from taking in the news to having written it.
struct FrameTimes {
  /// Later frames are not counted: an hour at thirty a second.
  private static let limit = 108_000

  private var times: [Duration] = []
  private var current = Duration.zero

  /// Adds work to the frame that is to come.
  mutating func note(from start: MonitorTime, to end: MonitorTime) { current += end - start }

  /// A frame was drawn.
  mutating func endFrame() {
    if times.count < Self.limit { times.append(current) }
    current = .zero
  }

  /// How many frames there were, and how long they took: one line.
  var text: String {
    let sorted = times.sorted()
    func milliseconds(_ percentile: Int) -> String {
      guard !sorted.isEmpty else { return "-" }
      let nanoseconds = sorted[(sorted.count - 1) * percentile / 100] / .nanoseconds(1)
      return "\((nanoseconds / 10_000).rounded() / 100)"
    }
    return "\(sorted.count) frames, ms: p50 \(milliseconds(50)) p99 \(milliseconds(99)) "
      + "longest \(milliseconds(100))"
  }
}
