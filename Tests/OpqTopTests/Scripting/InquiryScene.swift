// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import OpqTop

/// Messages of an imaginary process that has a suspended queue, a queue that works, and two queues
/// with the same name.
enum InquiryScene {
  static let start = MonitorTime(nanoseconds: 1_000_000_000_000)

  /// Returns the time that is a number of seconds after the process's greeting.
  static func moment(_ seconds: Double) -> MonitorTime { start + .seconds(seconds) }

  static func hello(isReadOnly: Bool = false) -> MonitorMessage {
    var hello = Hello(
      processName: "fake", processID: 4_711, isReadOnly: isReadOnly, anchor: start,
      anchorSecondsSince1970: 1_700_000_000.25, processStarted: moment(-100))
    hello.bootID = "another machine"
    return .hello(hello)
  }

  static func id(_ number: UInt64) -> OperationReport.ID { .init(number) }

  static let queues = [
    QueueReport(
      id: .init(1), name: "cpu", counts: StateCounts(waiting: 1, executing: 1, total: 9), width: 2),
    QueueReport(
      id: .init(2), name: "net", counts: StateCounts(ready: 1, held: 1, total: 1),
      isSuspended: true),
    QueueReport(id: .init(3), name: "twin"), QueueReport(id: .init(4), name: "twin"),
  ]

  static func report(
    _ number: UInt64, _ state: OperationState, name: String? = nil, needs: [UInt64] = [],
    started: Double? = nil, finished: Double? = nil, on queue: UInt64 = 1
  ) -> OperationReport {
    OperationReport(
      id: id(number), name: name ?? "job \(number)", className: "Job", queue: .init(queue),
      state: state, dependencies: needs.map(id), unmetDependencyCount: needs.count,
      added: moment(-10), becameReady: state == .waiting ? nil : moment(-5),
      started: started.map(moment),
      finished: finished.map(moment))
  }

  /// The reports of four operations. #3 waits for #2, and #2 waits for #1, which executes. #4 is
  /// ready in a suspended queue.
  static let reports = [
    report(1, .executing, started: -4), report(2, .waiting, needs: [1]),
    report(3, .waiting, needs: [2]), report(4, .held, on: 2),
  ]

  static func update(
    _ changed: [OperationReport] = reports, removed: [OperationReport.ID] = [],
    detail: OperationDetail? = nil, warnings: [MonitorWarning] = [], kept: Int = 4
  ) -> MonitorMessage {
    var update = Update(
      time: start, queues: queues, changed: changed, removed: removed, matchCount: 1,
      keptCount: kept)
    update.detail = detail
    update.warnings = warnings
    return .update(update)
  }

  static let detail = OperationDetail(
    id: id(3),
    reasons: [
      .init(
        kind: .unmetDependencies,
        sentence: "1 of 1 dependencies have not finished: it waits for #2, which waits for #1, "
          + "which is executing", operations: [id(2)]
      ), .init(kind: .queueSuspended, sentence: "its queue \u{1B}[2Jnet is suspended"),
    ])
}

extension Inquiry {
  /// Processes messages of the process that all arrive at the same time.
  mutating func hear(
    _ messages: MonitorMessage..., at seconds: Double = 0
  ) -> [InquiryAction] {
    messages.reduce([]) { answer, message in
      answer + take(message, at: InquiryScene.moment(seconds))
    }
  }

  mutating func look(atSeconds seconds: Double) -> [InquiryAction] {
    look(at: InquiryScene.moment(seconds))
  }
}
