// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite struct ReplayMomentTests {
  @Test("Impossible times and numbers cause no crash", arguments: 0..<8)
  func hostileNumbers(variant: Int) throws {
    let bytes = ExportScene.hostileNumbers(variant)
    let moment = ReplayMoment(try ReplayScene.reader(bytes), at: .seconds(1))
    #expect(!moment.messages(for: .everything).isEmpty)
  }

  @Test("why finds the operation that failed first, also if it was no longer kept at the moment")
  func causes() throws {
    var reports = ExportScene.failures(1)
    for number in 2...5 as ClosedRange<UInt64> {
      var report = OperationReport(
        id: .init(number), name: "file \(number)", className: "Fetch", queue: .init(1),
        state: .cancelled, added: ExportScene.time(1), finished: ExportScene.time(3))
      report.cancellationCause = .dependency(.init(number - 1))
      reports.append(report)
    }
    let moment = ReplayMoment(
      try ReplayScene.reader(ExportScene.bytes(reports)), at: nil)
    var inquiry = WhyInquiry(.init(5), InquiryForm())
    inquiry.knowledge.recordedTime = moment.time
    let actions = moment.messages(for: inquiry.interest).flatMap {
      inquiry.take($0, at: moment.time)
    }
    guard case .print(let text)? = actions.first else {
      Issue.record("it prints nothing")
      return
    }
    #expect(
      text.contains("cancelled because #1 “file 1” failed: disk full, through #2, #3, #4; at "))
  }
}
