// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import Synchronization

/// Waits for the signals that ask the process to end (TERM, INT, HUP), on a thread of its own, so that the
/// process ends even if the program's loop is stuck.
///
/// The first signal wakes the loop, which ends the process in the regular way, by the same signal. The watch
/// itself ends the process if the loop does not answer within one second, if the process has not ended five
/// seconds later, or if a second signal arrives.
///
/// While the program waits for a command that it has started, the watch gives the signals to
/// ``passOn(_:)`` instead.
public final class TerminationWatch: Sendable {
  /// How long the program's loop may take to answer a signal, in nanoseconds.
  private static let answerTime: Int64 = 1_000_000_000
  /// How long the process may take to end after the loop has answered, in nanoseconds. The last output of the
  /// process and the restoring of the terminal take long if the terminal accepts no bytes.
  private static let endTime: Int64 = 5_000_000_000

  /// What the watch does after a signal was given to the closure of ``passOn(_:)``.
  public enum Handling: Sendable {
    /// The process continues.
    case done
    /// The process continues, and the loop receives the signal from ``takeRequest()``.
    case requestsEnd
    /// The watch handles the signal itself, as if there were no closure.
    case declined
  }

  private let signals: [Int32]
  private let ring: @Sendable () -> Void
  private let restore: @Sendable () -> Void
  /// The signal that the watch has received; 0 if it has received none.
  private let request = Atomic<Int32>(0)
  private let isAnswered = Atomic(false)
  private let receiver = Mutex<(@Sendable (Int32, Bool) -> Handling)?>(nil)

  /// Blocks TERM, INT and HUP, except ignored signals, in the calling thread and in the threads that it
  /// starts after this call. Then starts to wait for these signals. The program must create the watch before
  /// the process has a second thread.
  ///
  /// - Parameters:
  ///   - others: Further signals to block and to wait for.
  ///   - ring: A closure that wakes the loop, which then calls ``takeRequest()``. The watch's thread calls
  ///     this closure.
  ///   - restore: A closure that restores the terminal if the loop cannot do so. The watch's thread calls
  ///     this closure.
  public init(
    others: [Int32] = [], ring: @escaping @Sendable () -> Void,
    restore: @escaping @Sendable () -> Void
  ) {
    signals =
      ([
        cmonitor_signal_terminate, cmonitor_signal_interrupt, cmonitor_signal_hangup,
      ] + others).filter { !cmonitor_is_ignored($0) }
    self.ring = ring
    self.restore = restore
    cmonitor_block_signals(signals, signals.count)
    startThread()
  }

  /// Gives all later signals to a closure.
  ///
  /// - Parameter receiver: The closure, which the watch's thread calls with the number of the signal, and with
  ///   whether the kernel has sent it to all processes of the terminal's foreground group. It must not block.
  public func passOn(_ receiver: @escaping @Sendable (Int32, Bool) -> Handling) {
    self.receiver.withLock { $0 = receiver }
  }

  /// Returns the signal by which the process has to end; `nil` if no signal has arrived. This call is the
  /// loop's answer, for which the watch waits.
  public func takeRequest() -> Int32? {
    let signal = request.load(ordering: .acquiring)
    guard signal != 0 else { return nil }
    isAnswered.store(true, ordering: .releasing)
    return signal
  }

  /// Ends the process by a signal, so that the parent process sees why this process ended.
  public static func endProcess(by signal: Int32) -> Never {
    cmonitor_end_by_signal(signal)
  }

  private func startThread() {
    let context = Unmanaged.passRetained(self)
    let error = csystem_start_thread(
      { Unmanaged<TerminationWatch>.fromOpaque($0).takeRetainedValue().wait() }, context.toOpaque())
    guard error != 0 else { return }
    // If the thread could not be started, the signals are unblocked, so that their default action ends the
    // process.
    context.release()
    cmonitor_unblock_signals(signals, signals.count)
  }

  /// Waits for the signals on the watch's thread, until the process ends.
  func wait() {
    cmonitor_receive_signals(signals, signals.count)
    while true {
      var isFromTerminal = false
      let signal = cmonitor_wait_for_signal(signals, signals.count, -1, &isFromTerminal)
      guard signal != 0 else { return }
      // Without a closure, the request is stored under the lock. Therefore a thread that calls `passOn(_:)` for the
      // first time and then `takeRequest()` gets each signal that the closure does not receive.
      let receive = receiver.withLock { receiver in
        if receiver == nil { request.store(signal, ordering: .releasing) }
        return receiver
      }
      // A request that is already stored is not stored again, because a thread may have taken it.
      guard let receive else { end(after: signal) }
      let handling = receive(signal, isFromTerminal)
      if handling != .done { request.store(signal, ordering: .releasing) }
      switch handling {
      case .done: continue
      case .requestsEnd: ring()
      case .declined: end(after: signal)
      }
    }
  }

  /// Ends the process, or makes the loop end it.
  private func end(after first: Int32) -> Never {
    ring()
    var last = cmonitor_wait_for_signal(signals, signals.count, Self.answerTime, nil)
    if last == 0 && isAnswered.load(ordering: .acquiring) {
      last = cmonitor_wait_for_signal(signals, signals.count, Self.endTime, nil)
    }
    restore()
    Self.endProcess(by: last == 0 ? first : last)
  }
}
