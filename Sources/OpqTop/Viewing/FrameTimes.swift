// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol

/// The times that the program's thread needs for frames. The time of a frame begins when the
/// messages are received and ends when the frame is written.
struct FrameTimes {
  /// The maximum number of measured frames: one hour at thirty frames per second.
  private static let limit = 108_000

  /// The elapsed time of each frame. It includes the time in which other threads and processes used
  /// the processor.
  private var wall: [Duration] = []
  /// The processor time of the thread for each frame.
  private var processor: [Duration] = []
  private var start = (wall: MonitorTime(nanoseconds: 0), processor: Duration.zero)
  private var current = (wall: Duration.zero, processor: Duration.zero)

  /// Starts to measure the time of a part of the work for the next frame.
  mutating func begin() { start = (MonitorTime.now, Self.processorTime) }

  /// Stops the measurement that ``begin()`` has started, and adds the measured time to the time of
  /// the next frame.
  mutating func end() {
    current.wall += MonitorTime.now - start.wall
    current.processor += Self.processorTime - start.processor
  }

  /// Adds the measured times of a frame after it was drawn.
  mutating func endFrame() {
    if wall.count < Self.limit {
      wall.append(current.wall)
      processor.append(current.processor)
    }
    current = (wall: .zero, processor: .zero)
  }

  /// A line of text with the number of frames and their times.
  var text: String {
    """
    \(wall.count) frames; CPU time per frame (ms): \(Self.percentiles(of: processor)); \
    elapsed time per frame (ms): \(Self.percentiles(of: wall))
    """
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
    .nanoseconds(csystem_thread_processor_nanoseconds(csystem_thread_id()))
  }
}
