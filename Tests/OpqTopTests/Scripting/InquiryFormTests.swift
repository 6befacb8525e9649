// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of the exact output of the commands for scripts. `Scripting.md` documents this output for
/// users.
@Suite struct InquiryFormTests {
  private typealias Scene = InquiryScene
  private let form = InquiryForm(isJSON: true)

  private static let head =
    #""time":{"monotonic":1000000000000,"wallClock":"2023-11-14T22:13:20.250Z"}"#
  private static let process = #""process":{"name":"fake","pid":4711}"#
  private static let third =
    #"{"class":"Job","dependencies":[2],"id":3,"kind":"Job","name":"job 3","priority":0,"queue":"cpu","#
    + #""seconds":10,"secondsInState":10,"state":"waiting","unmet":1}"#

  /// Returns the printed text, without the line feed.
  private func line(_ inquiry: some Inquiry, _ messages: MonitorMessage...) -> String {
    var inquiry = inquiry
    for message in [Scene.hello()] + messages {
      for case .print(let text) in inquiry.take(message, at: Scene.start) {
        #expect(text.hasSuffix("\n"))
        return String(text.dropLast())
      }
    }
    return ""
  }

  private var why: String {
    let warning = MonitorWarning(
      kind: .cancelNotHonoured, operations: [Scene.id(3)], count: 1, since: Scene.moment(-3))
    return line(
      WhyInquiry(Scene.id(3), form), Scene.update(detail: Scene.detail, warnings: [warning]))
  }

  private var tree: String {
    line(TreeInquiry(Scene.id(2), .waitsFor, columns: 80, form), Scene.update())
  }

  private var wait: String {
    line(
      WaitInquiry(
        [Scene.id(3), Scene.id(4)], for: WaitGoal(states: [.waiting]), timeout: nil, form),
      Scene.update(), .ended(reason: "gone"))
  }

  private var cancel: String {
    let ids = [Scene.id(1), Scene.id(4)]
    let result = CommandResult(
      command: .cancelWithDependents(ids), outcomes: [.requested, .alreadyFinished],
      dependents: [Scene.id(2)])
    return line(
      CancelInquiry(ids, includingDependents: true, form), Scene.update(), .commandResult(result))
  }

  private var suspend: String {
    let result = CommandResult(
      command: .setSuspended(.init(2), true), outcomes: [.requested])
    return line(
      SuspendInquiry("net", isSuspended: true, form), Scene.update(), .commandResult(result))
  }

  @Test("why asks for all dependencies that a process reports, and does not guess about the others")
  func whyKnowsManyDependencies() {
    var inquiry = WhyInquiry(Scene.id(3), InquiryForm())
    #expect(
      inquiry.interest.graphs
        == [Interest.Graph(root: Scene.id(3), direction: .waitsFor, limit: 20_000)])
    let report = Scene.report(3, .waiting, needs: [1, 50, 51])
    let others = [Scene.report(1, .executing, started: -4), report]
    let detail = OperationDetail(
      id: Scene.id(3),
      reasons: [
        .init(
          kind: .dependenciesNeverAdded, sentence: "#50 is not in a queue",
          operations: [Scene.id(50)])
      ])
    let answer = inquiry.hear(Scene.hello(), Scene.update(others, detail: detail))
    #expect(
      answer.first
        == .print(
          """
          #3 job 3: waits for 3 of 3 dependencies: #1 executing 4.00s, 1 not in a queue, 1 unknown
            1 #50 is not in a queue
            #3 waits for #1 (executing 4.00s)

          """))
  }

  @Test("why --json is this line")
  func whyLine() {
    let wanted =
      #"{"awaitedOperations":[],"awaitedQueues":[],"chain":[2,1],"operation":"# + Self.third
      + "," + Self.process + #","reasons":[{"kind":"unmet-dependencies","operations":[2],"#
      + #""sentence":"1 of 1 "#
      + #"dependencies have not finished: it waits for #2, which waits for #1, which is executing"},"#
      + #"{"kind":"queue-suspended","operations":[],"sentence":"its queue \u001b[2Jnet is suspended"}],"#
      + #""schema":"opq.why/1","sentence":"waits for 1 of 1 dependencies: #2 waiting","# + Self.head
      + #","warnings":[{"awaited":[],"count":1,"kind":"cancel-not-honoured","operations":[3],"#
      + #""seconds":3}]}"#
    #expect(why == wanted)
  }

  @Test("tree --json is this line, with only the operations of the tree")
  func treeLine() {
    let wanted =
      #"{"criticalPath":[],"direction":"waitsFor","isCut":false,"operations":["#
      + #"{"class":"Job","dependencies":[],"id":1,"kind":"Job","name":"job 1","priority":0,"queue":"cpu","#
      + #""seconds":4,"secondsInState":4,"state":"executing","unmet":0},"#
      + #"{"class":"Job","dependencies":[1],"id":2,"kind":"Job","name":"job 2","priority":0,"queue":"cpu","#
      + #""seconds":10,"secondsInState":10,"state":"waiting","unmet":1}],"# + Self.process
      + #","root":2,"schema":"opq.tree/1","# + Self.head + "}"
    #expect(tree == wanted)
  }

  @Test("wait --json is this line, also if it ends too early")
  func waitLine() {
    let wanted =
      #"{"isComplete":false,"missing":[4],"operations":["# + Self.third + "]," + Self.process
      + #","schema":"opq.wait/1","# + Self.head + "}"
    #expect(wait == wanted)
  }

  @Test("cancel --json and suspend --json are these lines")
  func commandLines() {
    #expect(
      cancel == #"{"dependents":[2],"operations":[{"id":1,"outcome":"requested"},"#
        + #"{"id":4,"outcome":"alreadyFinished"}],"# + Self.process
        + #","schema":"opq.cancel/1","# + Self.head + "}")
    #expect(
      suspend == #"{"isSuspended":true,"# + Self.process
        + #","queue":{"id":2,"name":"net","outcome":"requested"},"#
        + #""schema":"opq.suspend/1","# + Self.head + "}")
  }

  @Test("The page names every key, every outcome and every kind of reason")
  func page() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    func read(_ name: String) throws -> String {
      try String(
        contentsOf: source.appendingPathComponent("../../../Sources/opq-top/\(name)"),
        encoding: .utf8)
    }
    let page = try read("Scripting.md")
    let frames = try read("BatchOutput.md")
    for line in [why, tree, wait, cancel, suspend] {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let schema = try #require(object["schema"] as? String)
      #expect(page.contains("`\"\(schema)\"`"), "\(schema)")
      for key in object.keys { #expect(page.contains("`\(key)`"), "\(key)") }
    }
    #expect(page.contains("`remainingSeconds`"))
    let outcomes = [
      CommandResult.Outcome.requested, .alreadyFinished, .unknown, .denied, .lost,
    ]
    for outcome in outcomes { #expect(page.contains("`\(outcome.rawValue)`"), "\(outcome)") }
    for kind in OperationDetail.Reason.Kind.allCases {
      #expect(page.contains("`\(kind.rawValue)`"), "\(kind)")
    }
    for state in OperationState.allCases { #expect(page.contains("`\(state.rawValue)`")) }
    #expect(frames.contains("`wallClock`"))
  }
}
