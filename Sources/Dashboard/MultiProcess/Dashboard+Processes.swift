// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Commands to several processes that are watched together.

extension Dashboard {
  /// Returns the reason why none of the processes of these operations or queues accepts commands; `nil` if at
  /// least one of the processes accepts commands.
  func refusal(of ids: some Sequence<some NumberedByProcess>) -> CommandRefusal? {
    if let refusal { return refusal }
    var first: CommandRefusal?
    for id in ids {
      guard let refusal = live.process(of: id)?.refusal else { return nil }
      first = first ?? refusal
    }
    return first
  }

  /// For each process that has ended since `before`, an earlier state of the processes, shows the reason for
  /// its end.
  mutating func noteEnds(since before: [ProcessReport]) {
    for (old, new) in zip(before, live.processes) where old.ended == nil {
      if let reason = new.endedReason { show("\(new.title): \(reason)", isWarning: true) }
    }
  }

  /// The process to use if the user types an operation's number without a process. It is the process of the
  /// selected operation or, without a selection, the first process; 0 if only one process is watched.
  var goToProcess: Int {
    guard let first = shown.processes.first else { return 0 }
    return selected.flatMap { shown.process(of: $0)?.number } ?? first.number
  }

  /// Shows a notice if the processes of all these operations or queues refuse commands. Returns whether a
  /// notice was shown.
  mutating func refuses(_ ids: some Sequence<some NumberedByProcess>) -> Bool {
    guard let refusal = refusal(of: ids) else { return false }
    show(refusal.sentence, isWarning: true)
    return true
  }
}

extension ProcessReport {
  /// The reason why the process accepts no commands; `nil` if it accepts them.
  var refusal: CommandRefusal? {
    switch connection {
    case .ended: .ended
    case .reconnecting: .disconnected
    case .live, .silent: hello.isReadOnly ? .readOnly : nil
    }
  }
}
