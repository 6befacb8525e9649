// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The first message of a monitor: which process it watches, and how.
public struct Hello: Sendable, Equatable {
  /// The program's name, unsanitised.
  public var processName: String
  /// The process's id.
  public var processID: Int32
  /// Whether commands are refused.
  public var isReadOnly: Bool
  /// A moment on the process's monotonic clock …
  public var anchor: MonitorTime
  /// … and the same moment as seconds since 1970-01-01T00:00:00Z.
  public var anchorSecondsSince1970: Double
  /// When the process started, on its monotonic clock. This clock stops while the machine sleeps,
  /// so that the next greeting of the same process may have another value.
  public var processStarted: MonitorTime
  /// Identifies one boot of the machine: the same process id and start may occur again after
  /// another boot. Empty if unknown.
  public var bootID = ""
  /// When the process started, in the kernel's clock ticks since boot. Unlike ``processStarted``,
  /// it never changes. 0 if unknown.
  public var startTicks: UInt64 = 0
  /// The number of operations that were ever added to the existing queues.
  public var totalCount = 0

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

  /// Whether both greetings are of the same run of a program.
  ///
  /// If the ticks are unknown, the start times are compared. After the machine has slept, the same
  /// run may then be considered another one.
  public func isSameProcess(as other: Hello) -> Bool {
    guard processID == other.processID, bootID == other.bootID else { return false }
    return startTicks == 0 || other.startTicks == 0
      ? processStarted == other.processStarted : startTicks == other.startTicks
  }
}
