// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of questions about operations that were cancelled.
@Suite struct CancelledInquiryTests {
  private typealias Scene = InquiryScene
  private let form = InquiryForm()

  @Test("why names the operation whose failure has cancelled others, and the path to it, sanitised")
  func whyCancelled() {
    var failed = Scene.report(6, .failed, name: "bad", started: -3, finished: -2)
    failed.errorText = "disk \u{1B}[2Jfull"
    var through = Scene.report(7, .cancelled, finished: -2)
    through.cancellationCause = .dependency(failed.id)
    var last = Scene.report(8, .cancelled, finished: -2)
    last.cancellationCause = .dependency(through.id)
    let words = "#8 job 8: cancelled because #6 “bad” failed: disk ·[2Jfull, through #7"
    var inquiry = WhyInquiry(last.id, form)
    #expect(
      inquiry.hear(Scene.hello(), Scene.update([failed, through, last])) == [
        .print("\(words); at 22:13:18, never started\n"), .success,
      ])
    // The answer waits for the operation that failed first, but not for longer than it waits for others.
    var early = WhyInquiry(last.id, form)
    #expect(early.hear(Scene.hello(), Scene.update([through, last])) == [])
    #expect(early.hear(Scene.update([failed])).last == .success)
    var never = WhyInquiry(last.id, InquiryForm(isUnicode: false))
    #expect(never.hear(Scene.hello(), Scene.update([last])) == [])
    #expect(
      never.look(atSeconds: 2) == [
        .print(
          "#8 job 8: cancelled because of #7, an operation that is not known; at 22:13:18, never started\n"
        ), .success,
      ])
  }

  @Test("The JSON of why has the cause of a cancellation")
  func whyCancelledAsJSON() throws {
    var failed = Scene.report(6, .failed, name: "bad", started: -3, finished: -2)
    failed.errorText = "disk full"
    var last = Scene.report(8, .cancelled, finished: -2)
    last.cancellationCause = .dependency(failed.id)
    var inquiry = WhyInquiry(last.id, InquiryForm(isJSON: true))
    let actions = inquiry.hear(Scene.hello(), Scene.update([failed, last]))
    guard case .print(let line)? = actions.first else {
      Issue.record("it prints nothing")
      return
    }
    #expect(
      line.contains(
        #""cancellation":{"cause":"dependency","operation":6,"sentence":"cancelled because #6 “bad” failed: disk full"}"#
      ))
  }

  @Test("wait names the operation whose failure has cancelled another one")
  func waitCancelled() throws {
    var inquiry = WaitInquiry([Scene.id(8)], for: .isOver, timeout: nil, form)
    var last = Scene.report(8, .cancelled, finished: -2)
    last.cancellationCause = .dependency(Scene.id(6))
    let failed = Scene.report(6, .failed, name: "bad", started: -3, finished: -2)
    #expect(
      inquiry.hear(Scene.hello(), Scene.update([failed, last])) == [
        .print("#8 job 8: cancelled because #6 “bad” failed; at 22:13:18, never started\n"),
        .success,
      ])
    var succeeded = WaitInquiry(
      [Scene.id(8)], for: try .read("succeeded"), timeout: nil, InquiryForm(isUnicode: false))
    #expect(
      succeeded.hear(Scene.hello(), Scene.update([failed, last])) == [
        .end(1, "#8 job 8 was cancelled because #6 \"bad\" failed")
      ])
  }
}
