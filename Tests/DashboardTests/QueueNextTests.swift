// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("What the next operation of a queue waits for")
struct QueueNextTests {
  private typealias ID = OperationReport.ID

  @Test("QV-8: A sentence says what the next operation waits for")
  func next() {
    func sentence(
      _ kinds: [OperationDetail.Reason.Kind] = [], _ change: (inout QueueReport) -> Void
    ) -> String {
      var dashboard = QueueScene.dashboard()
      QueueScene.report(to: &dashboard) { update in
        change(&update.queues[0])
        update.detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
        update.detail?.reasons = kinds.map { .init(kind: $0, sentence: "it waits") }
      }
      return dashboard.text().first { $0.hasPrefix(" next: ") || $0.contains("no operation") } ?? ""
    }
    let start = " next: #1103 merge shard 5"
    #expect(sentence { _ in } == "\(start) waits for a free slot; all are in use (2/2)")
    #expect(sentence { $0.isSuspended = true } == "\(start) starts after the queue is resumed (S)")
    #expect(
      sentence { $0.width = 0 } == "\(start) cannot start, because the width of the queue is 0")
    func limit(_ queue: inout QueueReport) {
      queue.width = 3
      queue.startLimit = .init(count: 5, periodSeconds: 1)
    }
    #expect(
      sentence([.startLimitReached]) { limit(&$0) } == "\(start) waits for the limit of starts, 5/s"
    )
    #expect(sentence { limit(&$0) } == "\(start) can start now")
  }

  @Test("QV-8: A limit of starts is no reason before the process has reported it")
  func unreportedLimit() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].width = 3
      update.queues[0].startLimit = .init(count: 5, periodSeconds: 1)
    }
    #expect(dashboard.text().contains(" next: #1103 merge shard 5"))
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].width = 3
      update.queues[0].startLimit = .init(count: 5, periodSeconds: 1)
      update.runOrders = []
    }
    #expect(dashboard.text().contains(" 20 ready operations"))
  }

  @Test("QV-8: A sentence without room is shorter, and has only whole words")
  func shortSentences() {
    func sentence(_ change: (inout Update) -> Void) -> String {
      var dashboard = QueueScene.dashboard(columns: 40, rows: 10)
      QueueScene.report(to: &dashboard, change)
      return dashboard.text()[3]
    }
    func detail(_ kind: OperationDetail.Reason.Kind) -> OperationDetail {
      var detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
      detail.reasons = [.init(kind: kind, sentence: "it waits", operations: [ID(1080)])]
      return detail
    }
    let start = " next: #1103"
    #expect(sentence { _ in } == "\(start) waits for a free slot (2/2)")
    #expect(sentence { $0.queues[0].isSuspended = true } == "\(start) merge… waits: suspended (S)")
    #expect(sentence { $0.queues[0].width = 0 } == "\(start) merg… cannot start: width 0")
    #expect(
      sentence { $0.detail = detail(.barrierAhead) } == "\(start) waits for the barrier #1080")
    let limited = sentence { update in
      update.queues[0].width = 3
      update.queues[0].startLimit = .init(count: 100_000, periodSeconds: 100)
      update.detail = detail(.startLimitReached)
    }
    #expect(limited == "\(start) merge … waits for the limit")
    #expect(sentence { $0.runOrders = [] } == " 20 ready wait for a free slot (2/2)")
  }

  @Test("QV-8: The next operation can start now only if the process reports no reason")
  func nextWithoutReason() {
    var dashboard = QueueScene.dashboard()
    func sentence(detail: OperationDetail?, width: Int?) -> String {
      QueueScene.report(to: &dashboard) { update in
        update.queues[0].width = width
        update.detail = detail
      }
      return dashboard.text().first { $0.hasPrefix(" next: ") } ?? ""
    }
    let start = " next: #1103 merge shard 5"
    let detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
    for width in [nil, 3] {
      #expect(sentence(detail: detail, width: width) == "\(start) can start now")
      // The process sends the details of another operation.
      let other = OperationDetail(id: ID(1104), qualityOfService: .utility)
      #expect(sentence(detail: other, width: width) == start)
      #expect(sentence(detail: nil, width: width) == start)
    }
  }

  @Test("QV-8: A sentence says that no operation is ready")
  func noneIsReady() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].counts.ready = 0
      update.runOrders[0].ready = []
    }
    #expect(dashboard.text().shows("no operation is ready; 311 are waiting"))
    #expect(dashboard.text().shows("─ ready: none ─"))
  }

  @Test("QV-8: A barrier that the process has reported is the reason")
  func barrier() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { update in
      update.detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
      update.detail?.reasons = [
        .init(kind: .barrierAhead, sentence: "it waits", operations: [ID(1080)])
      ]
    }
    #expect(dashboard.text().shows("merge shard 5 waits until the barrier #1080 has finished"))
  }

  @Test("QV-8: The sentence about a selected ready operation names the limit of starts too")
  func sentenceOfTheSelectedOperation() {
    var dashboard = QueueScene.dashboard()
    func sentence(_ kind: OperationDetail.Reason.Kind?) -> String {
      QueueScene.report(to: &dashboard) { update in
        update.queues[0].width = nil
        update.queues[0].startLimit = .init(count: 3, periodSeconds: 10)
        update.detail = kind.map { kind in
          var detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
          detail.reasons = [.init(kind: kind, sentence: "it waits")]
          return detail
        }
      }
      return dashboard.text().first { $0.hasPrefix(" #1103 ready") } ?? ""
    }
    for list in [false, true] {
      if list {
        dashboard.take(.input(.alt("1")))
        dashboard.press("1103")
        dashboard.press(.enter)
      }
      let start = " #1103 ready, 1st in cpu"
      #expect(
        sentence(.startLimitReached).hasPrefix("\(start); waits for the limit of starts, 3/10s"))
      #expect(sentence(.notStartedYet).hasPrefix("\(start), not started yet"))
      #expect(!sentence(.notStartedYet).contains("limit"))
      let unknown = "\(start), not started yet; the limit of starts is 3/10s"
      #expect(sentence(nil).hasPrefix(unknown))
    }
  }

  @Test("QV-8: The details of the next operation are requested, whichever operation is selected")
  func detailOfTheNextOperation() {
    var dashboard = QueueScene.dashboard()
    for key in ["j", "k", "k", "g", "G"] {
      dashboard.press(key)
      #expect(dashboard.wantedInterest.detail == ID(1103), "\(key)")
    }
    dashboard.press(.enter)
    #expect(dashboard.wantedInterest.detail == ID(1104))
  }
}
