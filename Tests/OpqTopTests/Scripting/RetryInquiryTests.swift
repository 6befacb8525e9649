// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of `opq-top retry` with a run that is alive.
@Suite("Repeating jobs of a process") struct RetryInquiryTests {
  private typealias Scene = InquiryScene

  private func result(
    _ names: [String], _ outcomes: [CommandResult.Outcome], _ refusals: [Int: String] = [:]
  ) -> MonitorMessage {
    var result = CommandResult(command: .retry([], names: names), outcomes: outcomes)
    result.refusals = refusals
    return .commandResult(result)
  }

  @Test("RD-5: retry names each job once, and prints the result for each of them")
  func results() {
    var inquiry = RetryInquiry(["a", "b\u{1B}", "a", "c", "d"], InquiryForm())
    let names = ["a", "b\u{1B}", "c", "d"]
    #expect(inquiry.hear(Scene.hello()) == [.send(.retry([], names: names))])
    #expect(inquiry.hear(Scene.update()) == [])
    let actions = inquiry.hear(
      result(
        names, [.requested, .notRetryable, .unknown, .lost], [1: "b\u{1B} has succeeded"]))
    #expect(
      actions == [
        .print(
          """
          repeated: a
          not repeated: b· has succeeded
          not repeated: there is no job "c"
          d: result unknown, the connection was lost

          """), .end(1, nil),
      ])
  }

  @Test("RD-5: retry succeeds if all jobs are repeated, and is refused by a read-only process")
  func statuses() {
    var inquiry = RetryInquiry(["a"], InquiryForm())
    _ = inquiry.hear(Scene.hello())
    #expect(
      inquiry.hear(result(["a"], [.requested])) == [.print("repeated: a\n"), .end(0, nil)])
    var denied = RetryInquiry(["a"], InquiryForm())
    #expect(
      denied.hear(Scene.hello(isReadOnly: true))
        == [.end(5, "the process is monitored read-only")])
    var late = RetryInquiry(["a"], InquiryForm())
    _ = late.hear(Scene.hello())
    #expect(
      late.hear(result(["a"], [.denied])) == [
        .print("denied: the process is monitored read-only\n"), .end(5, nil),
      ])
  }
}
