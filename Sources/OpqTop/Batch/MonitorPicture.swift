// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// What a monitor has told so far, for frames to be made of.
struct MonitorPicture {
  /// Why nothing more comes, as a sentence; `nil` while it does. A lost connection is an end, too: frames
  /// of what was known before it would say nothing.
  private(set) var endedReason: String?
  /// Whether the process does not answer: a frame shows what was known before that.
  private(set) var isSilent = false
  /// Whether it was said why nothing more comes.
  var isOverTold = false
  /// How far the clock of the watched process is ahead of this one's.
  private var clockLead = Duration.zero
  private var hello: Hello?
  private var state = ProcessState()
  /// Which operations a frame holds; `nil` for all that the monitor tells of.
  private let filter: OperationFilter?

  /// Creates a picture of which nothing is known.
  init(filter: OperationFilter? = nil) { self.filter = filter }

  /// The process's id; `nil` before it has greeted.
  var processID: Int32? { hello?.processID }

  /// What it adds to a sum: where nothing more comes, only what is over.
  var counts: StateCounts {
    endedReason == nil ? state.counts : state.counts.over
  }

  /// How many changes of state its history has lost.
  var lostChanges: UInt64 { state.lostChanges }

  /// Whether there is something to see.
  var isFilled: Bool { hello != nil && state.counts.total > 0 }

  /// Takes in one message.
  ///
  /// - Parameters:
  ///   - message: The message. What comes after the end is not taken.
  ///   - now: The present time on this process's clock.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    guard endedReason == nil else { return }
    switch message {
    case .hello(let hello):
      self.hello = hello
      clockLead = hello.clockLead(at: now)
    case .update(let update):
      state.apply(update)
    case .silent(let duration):
      isSilent = duration > .zero
    case .commandResult:
      break
    case .disconnected(let reason):
      endedReason = "the connection is lost: \(reason)"
    case .ended(let reason):
      endedReason = reason
    }
  }

  /// The frame of a moment on this process's clock; `nil` before the monitor has said whom it watches.
  func frame(at now: MonitorTime) -> BatchFrame? {
    // The monitor tells of operations that warnings name, too, and ages go on between its messages.
    hello.map { state.frame(of: $0, at: now + clockLead, filter: filter) }
  }
}
