// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CTerminalSystem
import Glibc

/// The signals of a terminal's job control, as events of a loop instead of interruptions.
public struct JobSignals: ~Copyable {
  /// An event that the terminal or the shell reports.
  public enum Event: Sendable, Equatable {
    /// The terminal's size has changed.
    case resized
    /// The process is asked to stop.
    case stopRequested
    /// The process was stopped, and continues.
    case continued
  }

  private static let numbers = [SIGWINCH, SIGTSTP, SIGCONT]

  /// A descriptor that is readable when ``next()`` has an event.
  public let descriptor: Int32

  /// Blocks the signals in the calling thread and in those that it starts from now on. The program must call
  /// this function before the process has a second thread.
  public static func block() { cterminal_block_signals(numbers, numbers.count) }

  /// Starts to receive the signals, which have to be blocked.
  ///
  /// - Throws: ``TerminalError`` if the system has no descriptor left.
  public init() throws(TerminalError) {
    descriptor = cterminal_signal_descriptor(Self.numbers, Self.numbers.count)
    guard descriptor >= 0 else { throw TerminalError(.noResources) }
  }

  deinit { _ = close(descriptor) }

  /// Removes and returns the next event, or `nil` if there is none.
  public mutating func next() -> Event? {
    switch cterminal_next_signal(descriptor) {
    case SIGWINCH: .resized
    case SIGTSTP: .stopRequested
    case SIGCONT: .continued
    default: nil
    }
  }
}

@available(*, unavailable)
extension JobSignals: Sendable {}
