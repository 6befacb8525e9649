// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// What may be done where several processes are watched as one.

extension Dashboard {
  /// Why no process that any of these is of takes a command; `nil` where one does.
  func refusal(of ids: some Sequence<some NumberedByProcess>) -> CommandRefusal? {
    if let refusal { return refusal }
    var first: CommandRefusal?
    for id in ids {
      guard let refusal = live.process(of: id)?.refusal else { return nil }
      first = first ?? refusal
    }
    return first
  }

  /// Says why nothing more comes from those of several processes that have ended since it was known of them
  /// what `before` says.
  mutating func noteEnds(since before: [ProcessReport]) {
    for (old, new) in zip(before, live.processes) where old.ended == nil {
      if let reason = new.endedReason { show("\(new.title): \(reason)", isWarning: true) }
    }
  }

  /// The process in which a number that is typed is looked for: that of the selected operation, or the
  /// first one; 0 where one process is watched.
  var goToProcess: Int {
    guard let first = shown.processes.first else { return 0 }
    return selected.flatMap { shown.process(of: $0)?.number } ?? first.number
  }

  /// Says so where commands about these are refused, or nobody is there to take them.
  mutating func refuses(_ ids: some Sequence<some NumberedByProcess>) -> Bool {
    guard let refusal = refusal(of: ids) else { return false }
    show(refusal.sentence, isWarning: true)
    return true
  }
}

extension ProcessReport {
  /// Why it takes no commands; `nil` where it does.
  var refusal: CommandRefusal? {
    switch connection {
    case .ended: .ended
    case .reconnecting: .disconnected
    case .live, .silent: hello.isReadOnly ? .readOnly : nil
    }
  }
}
