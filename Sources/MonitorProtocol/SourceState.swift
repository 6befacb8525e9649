// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state that the messages of a source have reported. It includes the greeting, the state of
/// the process, and whether updates arrive.
package struct SourceState: Sendable, Equatable {
  /// The effect of a message on the known state of the process.
  package enum Change: Sendable, Equatable {
    /// The message has not changed the state of the process.
    case none
    /// The message was a greeting.
    case greeted(Hello)
    /// The message was an update that changed the state.
    case updated(Update)
    /// The message was the first update after another greeting. It has replaced the earlier state.
    case replaced(Update)
  }

  /// The last greeting; `nil` before the first greeting.
  package private(set) var hello: Hello?
  /// The state of the process that the updates have reported.
  package private(set) var process: ProcessState
  /// The reason why no further updates will arrive; `nil` if updates may arrive.
  package private(set) var endedReason: String?
  /// The reason why the connection was lost; `nil` while the source is connected.
  package private(set) var disconnectedReason: String?
  /// The duration for which the process has not answered; zero if it answers.
  package private(set) var silence = Duration.zero

  private let empty: ProcessState
  /// Whether the state is older than the last greeting. If it is, the next update contains the
  /// complete state.
  private var isOutdated = false

  /// Creates the state of a source that has sent no message.
  ///
  /// - Parameter empty: The state of a process before its first update.
  package init(_ empty: ProcessState = ProcessState()) {
    self.empty = empty
    process = empty
  }

  /// Whether no updates arrive, because the process has ended or the connection was lost.
  package var isSilent: Bool { endedReason != nil || disconnectedReason != nil }

  /// Applies a message of the source. The result of a command changes nothing.
  @discardableResult
  package mutating func apply(_ message: MonitorMessage) -> Change {
    switch message {
    case .hello(let hello):
      isOutdated = self.hello != nil
      self.hello = hello
      (endedReason, disconnectedReason, silence) = (nil, nil, .zero)
      return .greeted(hello)
    case .update(let update):
      // The update is ignored, because the process sent it before the connection was lost.
      guard disconnectedReason == nil else { return .none }
      // After a reconnection, the old state is kept until the first new update, so that the screen
      // is not empty in between.
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
