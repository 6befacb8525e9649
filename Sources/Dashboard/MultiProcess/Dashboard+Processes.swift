// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// Commands if several processes are watched together.

extension Dashboard {
  /// Returns why none of the processes of these ids accepts commands; `nil` if one does.
  func refusal(of ids: some Sequence<some NumberedByProcess>) -> CommandRefusal? {
    if let refusal { return refusal }
    var first: CommandRefusal?
    for id in ids {
      guard let refusal = live.process(of: id)?.refusal else { return nil }
      first = first ?? refusal
    }
    return first
  }

  /// Shows why processes have ended, for those of several that were running in `before`.
  mutating func noteEnds(since before: [ProcessReport]) {
    for (old, new) in zip(before, live.processes) where old.ended == nil {
      if let reason = new.endedReason { show("\(new.title): \(reason)", isWarning: true) }
    }
  }

  /// The process whose operation is selected if a number is typed without a process: the process of the
  /// selected operation, or the first one; 0 if only one process is watched.
  var goToProcess: Int {
    guard let first = shown.processes.first else { return 0 }
    return selected.flatMap { shown.process(of: $0)?.number } ?? first.number
  }

  /// Shows a notice if commands for these ids are refused, or if no process is connected; returns whether it
  /// did.
  mutating func refuses(_ ids: some Sequence<some NumberedByProcess>) -> Bool {
    guard let refusal = refusal(of: ids) else { return false }
    show(refusal.sentence, isWarning: true)
    return true
  }
}

extension ProcessReport {
  /// Why the process accepts no commands; `nil` if it does.
  var refusal: CommandRefusal? {
    switch connection {
    case .ended: .ended
    case .reconnecting: .disconnected
    case .live, .silent: hello.isReadOnly ? .readOnly : nil
    }
  }
}
