// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// Receives the signals of a terminal's job control and of changes of its size. The program's loop reads the
/// signals as events; they do not interrupt the process.
public struct JobSignals: ~Copyable {
  /// An event that the terminal or the shell reports.
  public enum Event: Sendable, Equatable {
    /// The terminal's size has changed.
    case resized
    /// The user or another process asks this process to stop, for example with Ctrl-Z (SIGTSTP).
    case stopRequested
    /// The process was stopped and now continues (SIGCONT).
    case continued
  }

  private static let numbers = [
    cmonitor_signal_window_change, cmonitor_signal_terminal_stop, cmonitor_signal_continue,
  ]

  /// A descriptor that is readable when ``next()`` has an event.
  public let descriptor: Int32

  /// Blocks the signals in the calling thread and in the threads that it starts after this call. The program
  /// must call this function before the process has a second thread, and on the thread that reads the events.
  public static func block() {
    cmonitor_block_signals(numbers, numbers.count)
    cmonitor_receive_signals(numbers, numbers.count)
  }

  /// Starts to receive the signals. Before this call, ``block()`` must have blocked the signals.
  ///
  /// - Throws: ``TerminalError`` if the system has no descriptor left.
  public init() throws(TerminalError) {
    descriptor = cmonitor_signal_descriptor(Self.numbers, Self.numbers.count)
    guard descriptor >= 0 else { throw TerminalError(.noResources) }
  }

  deinit { cmonitor_close(descriptor) }

  /// Removes and returns the next event; `nil` if there is no event.
  public mutating func next() -> Event? {
    switch cmonitor_next_signal(descriptor) {
    case cmonitor_signal_window_change: .resized
    case cmonitor_signal_terminal_stop: .stopRequested
    case cmonitor_signal_continue: .continued
    default: nil
    }
  }
}

@available(*, unavailable)
extension JobSignals: Sendable {}
