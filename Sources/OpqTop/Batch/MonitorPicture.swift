// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// The state of a monitored process, according to the messages that have arrived. The frames of
/// batch mode show this state.
struct MonitorPicture {
  /// Whether the program has reported to the user why no further messages arrive.
  var isEndReported = false
  /// The difference between the clock of the watched process and this process's clock.
  private var clockLead = Duration.zero
  private var source = SourceState()
  /// A filter for the operations of frames; `nil` for all operations.
  private let filter: OperationFilter?

  /// The order of the operations of frames; `nil` for the order of ids.
  private let order: SortOrder?

  /// Creates the state of a process from which no message has arrived.
  init(filter: OperationFilter? = nil, order: SortOrder? = nil) {
    self.filter = filter
    self.order = order
  }

  /// The reason, as a sentence, why no further messages arrive; `nil` while messages can arrive. A
  /// lost connection is such a reason too, because further frames would only repeat the old state.
  var endedReason: String? {
    source.endedReason ?? source.disconnectedReason.map { "connection lost: \($0)" }
  }

  /// Whether the process does not answer. Frames then show the process's last known state.
  var isSilent: Bool { source.silence > .zero }

  private var state: ProcessState { source.process }

  /// The id of the watched process; `nil` before the process's greeting.
  var processID: Int32? { source.hello?.processID }

  /// The name of the other machine on which the process runs, unsanitised; `nil` for this machine, or before the
  /// process's greeting.
  var host: String? {
    guard let host = source.hello?.host, !host.isEmpty else { return nil }
    return host
  }

  /// The number of operations in each state, from which the sums over several processes are
  /// calculated. After the process has ended, only finished and cancelled operations are counted.
  var counts: StateCounts {
    endedReason == nil ? state.counts : state.counts.over
  }

  /// The number of state changes that the process did not record.
  var lostChanges: UInt64 { state.lostChanges }

  /// Whether an update of the process has arrived, or no update can arrive.
  var hasData: Bool { state.latest != nil || endedReason != nil }

  /// Whether the process has operations.
  var isFilled: Bool { source.hello != nil && state.counts.total > 0 }

  /// Updates the state with a message.
  ///
  /// - Parameters:
  ///   - message: The message. Messages after the end are ignored.
  ///   - now: The current time on this process's clock.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    guard endedReason == nil else { return }
    if case .greeted(let hello) = source.apply(message) { clockLead = hello.clockLead(at: now) }
  }

  /// Returns the frame for a moment on this process's clock; `nil` before the process's greeting.
  func frame(at now: MonitorTime) -> BatchFrame? {
    // The monitor has already applied the filter. It is applied again for two reasons: the monitor
    // also sends operations that warnings name, and the ages of operations grow between two
    // messages.
    guard let hello = source.hello else { return nil }
    var frame = state.frame(of: hello, at: now + clockLead, filter: filter)
    if let order { sort(&frame.operations, by: order) }
    return frame
  }

  private func sort(_ operations: inout [BatchFrame.Operation], by order: SortOrder) {
    let names = Dictionary(
      state.queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    let keyed = operations.compactMap { operation in
      state.operations[operation.id].map { report in
        (SortKey(report, queueName: names[report.queue] ?? "", by: order.column), operation)
      }
    }
    let sorted = keyed.sorted { $0.0 < $1.0 }.map(\.1)
    operations = order.isReversed ? sorted.reversed() : sorted
  }
}
