// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// The state of a monitor after its messages so far, from which frames are made.
struct MonitorPicture {
  /// Whether the reason was reported.
  var isOverTold = false
  /// How far the clock of the watched process is ahead of this process's clock.
  private var clockLead = Duration.zero
  private var source = SourceState()
  /// The condition for operations in a frame; `nil` for all operations.
  private let filter: OperationFilter?

  /// Creates an empty picture.
  init(filter: OperationFilter? = nil) { self.filter = filter }

  /// The reason, as a sentence, why no further messages come; `nil` while they come. A lost
  /// connection ends the picture too, because further frames would only repeat the old state.
  var endedReason: String? {
    source.endedReason ?? source.disconnectedReason.map { "connection lost: \($0)" }
  }

  /// Whether the process does not answer. Frames then show its last known state.
  var isSilent: Bool { source.silence > .zero }

  private var state: ProcessState { source.process }

  /// The process's id; `nil` before its greeting.
  var processID: Int32? { source.hello?.processID }

  /// The counts for a sum; after the end, only those of finished and cancelled operations.
  var counts: StateCounts {
    endedReason == nil ? state.counts : state.counts.over
  }

  /// The number of state changes that its history did not record.
  var lostChanges: UInt64 { state.lostChanges }

  /// Whether there are operations.
  var isFilled: Bool { source.hello != nil && state.counts.total > 0 }

  /// Handles a message.
  ///
  /// - Parameters:
  ///   - message: The message. Messages after the end are ignored.
  ///   - now: The current time on this process's clock.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    guard endedReason == nil else { return }
    if case .greeted(let hello) = source.apply(message) { clockLead = hello.clockLead(at: now) }
  }

  /// Returns the frame of a moment on this process's clock; `nil` before the greeting.
  func frame(at now: MonitorTime) -> BatchFrame? {
    // The filter is applied again, because the monitor also sends the operations that warnings
    // name, and because ages grow between its messages.
    source.hello.map { state.frame(of: $0, at: now + clockLead, filter: filter) }
  }
}
