// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol

/// How long the program's thread worked for each frame: from taking in the news to having written it.
struct FrameTimes {
  /// Later frames are not counted: an hour at thirty a second.
  private static let limit = 108_000

  /// By the clock on the wall, with what others had the processor for.
  private var wall: [Duration] = []
  /// By the thread's own clock.
  private var processor: [Duration] = []
  private var start = (wall: MonitorTime(nanoseconds: 0), processor: Duration.zero)
  private var current = (wall: Duration.zero, processor: Duration.zero)

  /// Work for the frame that is to come begins.
  mutating func begin() { start = (MonitorTime.now, Self.processorTime) }

  /// The work that was begun is done.
  mutating func end() {
    current.wall += MonitorTime.now - start.wall
    current.processor += Self.processorTime - start.processor
  }

  /// A frame was drawn.
  mutating func endFrame() {
    if wall.count < Self.limit {
      wall.append(current.wall)
      processor.append(current.processor)
    }
    current = (wall: .zero, processor: .zero)
  }

  /// How many frames there were, and how long they took: one line.
  var text: String {
    "\(wall.count) frames, processor ms \(Self.percentiles(of: processor)),"
      + " clock ms \(Self.percentiles(of: wall))"
  }

  private static func percentiles(of times: [Duration]) -> String {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return "-" }
    return [("p50", 50), ("p99", 99), ("longest", 100)].map { name, percentile in
      let nanoseconds = sorted[(sorted.count - 1) * percentile / 100] / .nanoseconds(1)
      return "\(name) \((nanoseconds / 10_000).rounded() / 100)"
    }.joined(separator: " ")
  }

  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
