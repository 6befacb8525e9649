// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// What becomes of the connection to a process, without a socket and without a clock.
///
/// The first one is there or is not. One that is lost is made anew for as long as the same process may be
/// there, soon at first and then ever rarer.
struct Reconnection {
  /// What the session has to do.
  enum Action: Equatable {
    /// Tell the viewer this.
    case post(MonitorMessage)
    /// The process is watched from now on: say what is wanted.
    case open
    /// There is no process to watch.
    case refuse(AttachError)
    /// Connect in a while.
    case retry(after: Duration)
    /// Close the connection for good.
    case stop
  }

  /// The longest wait before an attempt.
  static let longestDelay = Duration.seconds(5)
  private static let firstDelay = Duration.milliseconds(100)

  /// Whether the process may be watched at present.
  private(set) var isOpen = false
  /// Which process is watched; `nil` before the first greeting.
  private var hello: Hello?
  private var nextDelay = Reconnection.firstDelay
  /// What the viewer was told last of the lost connection; `nil` while there is one.
  private var lastReason: String?
  private var isOver = false

  /// A process has greeted.
  mutating func greet(_ hello: Hello) -> [Action] {
    if let known = self.hello, !known.isSameProcess(as: hello) {
      return end("another process is there now")
    }
    self.hello = hello
    isOpen = true
    lastReason = nil
    return [.post(.hello(hello)), .open]
  }

  /// The process has told something, and not only greeted: the next connection that is lost is tried anew
  /// as soon as the first one. One that greets and goes at once is tried ever more rarely.
  mutating func noteUpdate() { nextDelay = Self.firstDelay }

  /// There is no connection, or no longer.
  ///
  /// - Parameters:
  ///   - error: Why.
  ///   - hasEnded: Whether the process is known to have ended.
  /// - Returns: What to do.
  mutating func lose(_ error: AttachError, hasEnded: Bool) -> [Action] {
    guard !isOver else { return [] }
    guard hello != nil else {
      isOver = true
      return [.refuse(error)]
    }
    isOpen = false
    // A process that ends closes its socket a little before it is gone.
    if hasEnded { return end("the process has exited") }
    if error.isFinal { return end(error.description) }
    defer { nextDelay = min(nextDelay * 2, Self.longestDelay) }
    // That a process has no room is news; that there is still no connection is not.
    let isNews = lastReason == nil || error.kind == .crowded && error.description != lastReason
    guard isNews else { return [.retry(after: nextDelay)] }
    lastReason = error.description
    return [.post(.disconnected(reason: error.description)), .retry(after: nextDelay)]
  }

  /// The wait is over.
  ///
  /// - Parameter hasEnded: Whether the process is known to have ended.
  /// - Returns: What to do instead of connecting; nothing where that is to be done.
  mutating func wakeUp(hasEnded: Bool) -> [Action] {
    hasEnded ? end("the process has exited") : []
  }

  /// The process has said that it ends.
  mutating func end() -> [Action] {
    isOpen = false
    isOver = true
    return [.stop]
  }

  private mutating func end(_ reason: String) -> [Action] {
    [.post(.ended(reason: reason))] + end()
  }
}
