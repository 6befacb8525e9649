// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state that the messages of a source have reported: the greeting, the process, and whether updates
/// arrive.
package struct SourceState: Sendable, Equatable {
  /// The effect of a message on what is known of the process.
  package enum Change: Sendable, Equatable {
    /// Nothing has changed.
    case none
    /// The source has greeted.
    case greeted(Hello)
    /// An update has changed the state.
    case updated(Update)
    /// An update is the first one after another greeting. It replaces everything that was known before.
    case replaced(Update)
  }

  /// The last greeting; `nil` before the first.
  package private(set) var hello: Hello?
  /// The state that the updates have reported.
  package private(set) var process: ProcessState
  /// The reason why the updates have ended; `nil` if they have not.
  package private(set) var endedReason: String?
  /// The reason why no updates come before another greeting; `nil` while they may.
  package private(set) var disconnectedReason: String?
  /// The time without a message of the process although it was asked; zero if it answers.
  package private(set) var silence = Duration.zero

  private let empty: ProcessState
  /// Whether the state is older than the last greeting: the next update reports everything again.
  private var isOutdated = false

  /// Creates a state without any message.
  ///
  /// - Parameter empty: The state of a process before its first update.
  package init(_ empty: ProcessState = ProcessState()) {
    self.empty = empty
    process = empty
  }

  /// Whether no updates come.
  package var isSilent: Bool { endedReason != nil || disconnectedReason != nil }

  /// Applies a message. A command's result changes nothing.
  @discardableResult
  package mutating func apply(_ message: MonitorMessage) -> Change {
    switch message {
    case .hello(let hello):
      isOutdated = self.hello != nil
      self.hello = hello
      (endedReason, disconnectedReason, silence) = (nil, nil, .zero)
      return .greeted(hello)
    case .update(let update):
      // After the end of a connection, an update is one that was on its way.
      guard disconnectedReason == nil else { return .none }
      // The old state stays until this moment, so that a screen is not empty before the first update.
      let isFirst = isOutdated
      if isFirst { process = empty }
      isOutdated = false
      process.apply(update)
      return isFirst ? .replaced(update) : .updated(update)
    case .commandResult:
      break
    case .silent(let duration):
      silence = duration
    case .disconnected(let reason):
      disconnectedReason = reason
    case .ended(let reason):
      (endedReason, disconnectedReason) = (reason, nil)
    }
    return .none
  }
}
