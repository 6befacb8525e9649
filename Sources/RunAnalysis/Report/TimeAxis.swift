// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The time axis of all drawings of a page, which gives each moment of the run a horizontal position. In all
/// drawings, the same horizontal position shows the same time.
struct TimeAxis {
  /// The left end of the time axis. Row labels are to the left of it.
  static let left = 130.0
  static let width = 1_000.0
  private static let tickCount = 8

  let start: MonitorTime
  let end: MonitorTime

  /// The length of the time axis in nanoseconds; never 0.
  private var length: Double { Double(max(1, end.nanoseconds - start.nanoseconds)) }

  /// Returns the horizontal position of a moment on the page.
  func x(_ time: MonitorTime) -> Double {
    let clamped = max(start, min(end, time))
    return Self.left
      + Double(clamped.nanoseconds - start.nanoseconds) / length * (Self.width - Self.left)
  }

  /// Returns vertical lines at round times, from the top to a height. Each line has a label with the time
  /// since the start.
  func drawing(height: Double) -> String {
    var text = ""
    for tick in ticks {
      let place = x(start + .nanoseconds(tick))
      let x = HTMLText.number(place)
      let label = HTMLText.duration(.nanoseconds(tick))
      // At the right edge of the page, a centred label would have no room. Therefore the last label has
      // another style.
      let style = place > Self.width - 20 ? "tick last" : "tick"
      text +=
        "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"14\" y2=\"\(HTMLText.number(height))\"/>"
      text += "<text class=\"\(style)\" x=\"\(x)\" y=\"10\">\(label)</text>\n"
    }
    return text
  }

  /// The times of the lines in nanoseconds since the start, at round intervals.
  var ticks: [Int64] {
    let steps: [Int64] =
      [1, 1_000, 1_000_000].flatMap { unit in
        [1, 2, 5, 10, 20, 50, 100, 200, 500].map { $0 * unit }
      }
      + [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800].map { $0 * 1_000_000_000 }
    let smallest = Int64(length / Double(Self.tickCount))
    let hour: Int64 = 3_600_000_000_000
    let step = steps.first { $0 >= smallest } ?? (smallest / hour + 1) * hour
    return Array(stride(from: 0, through: Int64(length), by: Int64.Stride(step)))
  }
}
