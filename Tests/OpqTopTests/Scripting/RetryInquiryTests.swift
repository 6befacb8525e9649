// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of `opq-top retry` with a run that is alive.
@Suite("Retrying jobs of a process") struct RetryInquiryTests {
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
          retried: a
          not retried: b· has succeeded
          not retried: there is no job "c"
          d: result unknown, the connection was lost

          """), .end(1, nil),
      ])
  }

  @Test("RD-5: retry succeeds if all jobs are retried, and is refused by a read-only process")
  func statuses() {
    var inquiry = RetryInquiry(["a"], InquiryForm())
    _ = inquiry.hear(Scene.hello())
    #expect(
      inquiry.hear(result(["a"], [.requested])) == [.print("retried: a\n"), .end(0, nil)])
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

  @Test("RD-5: The names of many jobs are requested in parts, one after the other")
  func parts() throws {
    let names = (0..<3_000).map { "job-\($0)-" + String(repeating: "x", count: 40) }
    let parts = NameInquiry.parts(of: names)
    #expect(parts.count > 2)
    var inquiry = RetryInquiry(names, InquiryForm())
    var actions = inquiry.hear(Scene.hello())
    for (number, part) in parts.enumerated() {
      #expect(part.reduce(0) { $0 + $1.wireNameSize } <= WireLimits.mostNameBytes)
      #expect(actions.last == .send(.retry([], names: part)))
      // One job of the first part is refused.
      let first: CommandResult.Outcome = number == 0 ? .notRetryable : .requested
      let outcomes = [first] + Array(repeating: .requested, count: part.count - 1)
      actions = inquiry.hear(result(part, outcomes))
      #expect(actions.count == 2)
    }
    #expect(actions.last == .end(1, nil))
  }

  @Test("RD-5: If the connection is lost, the jobs of the other parts are not retried")
  func lostConnection() {
    // Four of these names fit into a message.
    let names = (0..<5).map { "\($0)" + String(repeating: "x", count: 4_000) }
    let first = Array(names[..<4])
    var inquiry = RetryInquiry(names, InquiryForm())
    #expect(inquiry.hear(Scene.hello()) == [.send(.retry([], names: first))])
    let actions = inquiry.hear(result(first, Array(repeating: .lost, count: 4)))
    guard case .print(let text) = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(text.contains("result unknown") && text.contains("\nnot retried: 4x"))
    #expect(actions.last == .end(1, nil))
  }
}
