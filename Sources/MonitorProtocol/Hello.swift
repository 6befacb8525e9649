// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Says which process is watched, and how.
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
  /// When the process started, on its monotonic clock. That stands still while the machine sleeps: the
  /// same process may say another time in its next greeting.
  public var processStarted: MonitorTime
  /// Tells apart the times between two starts of the machine, in which the same id and start of a
  /// process may come again; empty where that is not known.
  public var bootID = ""
  /// When the process started, in the kernel's clock ticks since the machine did: other than
  /// ``processStarted`` it never changes. 0 where it is not known.
  public var startTicks: UInt64 = 0
  /// How many operations were ever added to the queues that are alive.
  public var totalCount = 0

  /// Creates a greeting, of an unknown boot and without operations.
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

  /// Whether both are of one run of a program.
  ///
  /// Who does not know its ticks is told by the time of its start: where the machine has slept, it may be
  /// taken for another one.
  public func isSameProcess(as other: Hello) -> Bool {
    guard processID == other.processID, bootID == other.bootID else { return false }
    return startTicks == 0 || other.startTicks == 0
      ? processStarted == other.processStarted : startTicks == other.startTicks
  }
}
