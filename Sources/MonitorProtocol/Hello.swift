// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The first message of a monitor. It describes the monitored process.
public struct Hello: Sendable, Equatable {
  /// The program's name, unsanitised.
  public var processName: String
  /// The id of the process.
  public var processID: Int32
  /// Whether the monitored process refuses commands.
  public var isReadOnly: Bool
  /// A moment on the process's monotonic clock. ``anchorSecondsSince1970`` is the same moment as a
  /// time of day.
  public var anchor: MonitorTime
  /// The moment ``anchor`` as seconds since 1970-01-01T00:00:00Z.
  public var anchorSecondsSince1970: Double
  /// The time when the process started, on its monotonic clock. This clock stops while the machine
  /// sleeps. Therefore the next greeting of the same process may have another value.
  public var processStarted: MonitorTime
  /// A text that identifies one boot of the machine; empty if unknown. After another boot, the same
  /// process id and start time may occur again.
  public var bootID = ""
  /// The time when the process started, in the kernel's clock ticks since boot; 0 if unknown.
  /// Unlike ``processStarted``, this value never changes.
  public var startTicks: UInt64 = 0
  /// The number of operations that were ever added to the existing queues.
  public var totalCount = 0
  /// Whether the source carries out ``MonitorCommand/setHeld(_:_:)``. The viewer sets this value. It is not a part of
  /// the message, because processes cannot hold operations.
  package var canHold = false
  /// Whether the process sends run orders, groups and the times of queues, which processes before version 1.4 of the
  /// protocol do not know. The viewer sets this value. It is not a part of the message.
  package var sendsQueueDetails = true
  /// Whether the process carries out ``MonitorCommand/retry(_:names:)``. Since version 1.3 of the
  /// protocol.
  public var canRetry = false
  /// The name of the place where the process runs, such as the name of a host, unsanitised; empty for this machine.
  /// The viewer sets this value. It is not a part of the message.
  package var host = ""

  /// Creates a greeting with an unknown boot and no operations.
  public init(
    processName: String, processID: Int32, isReadOnly: Bool, anchor: MonitorTime,
    anchorSecondsSince1970: Double, processStarted: MonitorTime
  ) {
    self.processName = processName
    self.processID = processID
    self.isReadOnly = isReadOnly
    self.anchor = anchor
    self.anchorSecondsSince1970 = anchorSecondsSince1970
    self.processStarted = processStarted
  }

  /// Returns whether both greetings come from the same process.
  ///
  /// If the clock ticks are unknown, the method compares the start times. If the machine has slept,
  /// the result may then be `false` for the same process.
  public func isSameProcess(as other: Hello) -> Bool {
    guard processID == other.processID, bootID == other.bootID else { return false }
    return startTicks == 0 || other.startTicks == 0
      ? processStarted == other.processStarted : startTicks == other.startTicks
  }

  /// Returns the time by which the clock of the greeting's sender is ahead of this process's clock.
  /// The result is zero if the sender runs on the same machine. Otherwise the result is the
  /// sender's time in the greeting minus `now`. The duration of the transfer is ignored.
  ///
  /// - Parameters:
  ///   - now: The current time on this process's clock.
  ///   - bootID: The boot id of this machine.
  /// - Returns: The duration to add to a time of this process.
  package func clockLead(at now: MonitorTime, bootID: String = ProcessStart.bootID) -> Duration {
    self.bootID == bootID ? .zero : anchor - now
  }
}
