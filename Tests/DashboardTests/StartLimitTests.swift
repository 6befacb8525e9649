// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The limit of a queue's starts")
struct StartLimitTests {
  private typealias Limit = QueueReport.StartLimit

  private static let five = Limit(count: 5, periodSeconds: 1)

  private static func dashboard(
    columns: Int = 80, source: Source = .process("other"), isReadOnly: Bool = false
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(
      columns: columns,
      configuration: .init(source: source, title: "tiles", isReadOnly: isReadOnly))
    dashboard.take(.input(.alt("3")))
    return dashboard
  }

  private static func report(_ limit: Limit?, to dashboard: inout Dashboard) {
    var update = ViewScene.update
    update.queues[0].startLimit = limit
    update.time = dashboard.now
    dashboard.take(.monitor(.update(update)))
  }

  private static func answer(
    _ limit: Limit?, _ outcome: CommandResult.Outcome = .requested, to dashboard: inout Dashboard
  ) {
    var result = CommandResult(command: .setStartLimit(Scene.cpu, limit), outcomes: [outcome])
    if outcome == .refused { result.refusals[0] = CommandResult.cannotSetStartLimit }
    dashboard.take(.monitor(.commandResult(result)))
  }

  @Test(
    "QV-11: A typed limit has a count and a period",
    arguments: [
      ("5/s", 5, 1.0), ("100/min", 100, 60), ("3/10s", 3, 10), (" 5/S ", 5, 1), ("7/h", 7, 3_600),
      ("3/10.0s", 3, 10), ("2/1m40s", 2, 100), ("1/500ms", 1, 0.5), ("4/2d", 4, 172_800),
    ])
  func accepted(text: String, count: Int, period: Double) throws {
    #expect(try TypedStartLimit(text).limit == Limit(count: count, periodSeconds: period))
  }

  @Test("QV-11: The text that the screen shows for a limit is accepted")
  func shownText() throws {
    for period in [0.25, 1, 2, 10, 60, 90, 3_600, 7_200, 86_400] {
      let limit = Limit(count: 12, periodSeconds: period)
      #expect(try TypedStartLimit(limit.text).limit == limit, "\(limit.text)")
    }
  }

  @Test(
    "QV-11: Other texts are refused",
    arguments: [
      "", " ", "5", "5/", "/s", "-1/s", "5/s/s", "5/x", "5/10", "5.5/s", "5 / s", "٥/s", "5/1e9s",
      "5/.s", "5/1..2s", "on", "5/1e300s",
    ])
  func refused(text: String) {
    #expect(throws: TypedStartLimit.Fault.form) { try TypedStartLimit(text) }
  }

  @Test(
    "QV-11: A count and a period beyond the bounds are refused, each with its own reason",
    arguments: [
      ("0/s", true), ("1000001/s", true), ("5000000/s", true), ("99999999999999999999/s", true),
      ("5/0s", false), ("5/0.5ms", false), ("5/366d", false), ("1/999d", false),
      ("5/31536001s", false), ("5/99999999999d", false),
    ])
  func beyondTheBounds(text: String, isCount: Bool) {
    #expect(throws: isCount ? TypedStartLimit.Fault.count : .period) { try TypedStartLimit(text) }
    var dashboard = Self.dashboard()
    dashboard.press("r\(text)")
    let remark = isCount ? "type 1 to 1,000,000 starts" : "type a period from 1ms to 365d"
    #expect(dashboard.text().shows("\(text)_   \(remark)"))
    #expect(dashboard.press(.enter) == [.bell])
  }

  @Test("QV-11: The process accepts the largest limits that the prompt accepts")
  func largestLimits() throws {
    for text in ["1000000/s", "5/365d", "1000000/365d", "1/1ms"] {
      let typed = try TypedStartLimit(text)
      let command = MonitorCommand.setStartLimit(Scene.cpu, typed.limit)
      let sent = ViewerMessage.command(command, token: 1)
      #expect(try ViewerMessage(decoding: sent.encoded()) == sent, "\(text)")
    }
  }

  @Test("QV-11: A wrong text keeps the prompt open, with a remark")
  func wrongText() {
    var dashboard = Self.dashboard()
    #expect(dashboard.press("r") == [])
    #expect(
      dashboard.text().shows("limit of starts of cpu: _   for example 5/s, 100/min or off"))
    dashboard.press("5/x")
    #expect(dashboard.text().shows("5/x_   type a limit such as 5/s, or off"))
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.text().shows("limit of starts of cpu: 5/x_"))
    dashboard.press(.backspace)
    dashboard.press("s")
    #expect(dashboard.text().shows("5/s_   Enter accept"))
    #expect(dashboard.press(.escape) == [])
    #expect(!dashboard.text().shows("limit of starts of"))
  }

  @Test("QV-12: A limit is requested after a question that names the queue")
  func question() {
    var dashboard = Self.dashboard()
    dashboard.press("r5/s")
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("Limit the starts of queue cpu to 5/s?"))
    #expect(dashboard.press("a") == [.bell])
    dashboard.press("n")
    #expect(dashboard.text().shows("limit of starts not changed"))
    dashboard.press("r5/s")
    dashboard.press(.enter)
    #expect(dashboard.press("y") == [.send(.setStartLimit(Scene.cpu, Self.five))])
  }

  @Test("QV-12: The bundled demo does not ask")
  func demo() {
    var dashboard = Self.dashboard(source: .demo)
    dashboard.press("r5/s")
    #expect(dashboard.press(.enter) == [.send(.setStartLimit(Scene.cpu, Self.five))])
    #expect(dashboard.text().shows("off→5/s"))
  }

  @Test(
    "QV-12: The requested limit stands beside the reported one until the queue has it",
    arguments: [80, 120])
  func requestedLimit(columns: Int) {
    var dashboard = Self.dashboard(columns: columns, source: .demo)
    Self.report(Self.five, to: &dashboard)
    dashboard.press("r")
    #expect(dashboard.text().shows("limit of starts of cpu: 5/s_"))
    dashboard.take(.input(.control("u")))
    dashboard.press("10/s")
    dashboard.press(.enter)
    #expect(dashboard.text().contains { $0.hasPrefix("▌ cpu") && $0.contains(" 5/s→10/s ") })
    dashboard.press(.enter)
    #expect(dashboard.text().shows("limit of starts 5/s→10/s"))
    let ten = Limit(count: 10, periodSeconds: 1)
    Self.answer(ten, to: &dashboard)
    #expect(dashboard.text().shows("queue cpu: limit of starts 10/s"))
    Self.report(ten, to: &dashboard)
    #expect(dashboard.text().shows("limit of starts 10/s ─") && !dashboard.text().shows("→"))
  }

  @Test("QV-12: The word off removes the limit")
  func off() {
    var dashboard = Self.dashboard()
    Self.report(Self.five, to: &dashboard)
    dashboard.press("r")
    dashboard.take(.input(.control("u")))
    dashboard.press("off")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("Remove the limit of starts of queue cpu?"))
    #expect(dashboard.press("y") == [.send(.setStartLimit(Scene.cpu, nil))])
    #expect(dashboard.text().shows("5/s→off"))
    Self.answer(nil, to: &dashboard)
    #expect(dashboard.text().shows("queue cpu: no limit of starts"))
  }

  @Test("QV-12: An equal limit is not requested")
  func equalLimit() {
    var dashboard = Self.dashboard()
    Self.report(Self.five, to: &dashboard)
    dashboard.press("r")
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("queue cpu: limit of starts 5/s, as before"))
    #expect(dashboard.prompts.question == nil)
  }

  @Test("QV-12: A text that was not changed changes nothing, also if the limit changes meanwhile")
  func limitThatChangesMeanwhile() {
    var dashboard = Self.dashboard()
    Self.report(Self.five, to: &dashboard)
    dashboard.press("r")
    Self.report(Limit(count: 10, periodSeconds: 1), to: &dashboard)
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("queue cpu: limit of starts 10/s, as before"))
    // A typed text is a new limit, even if the present one has the same rounded text.
    dashboard.press("r")
    dashboard.take(.input(.control("u")))
    dashboard.press("5/1m15s")
    Self.report(Limit(count: 5, periodSeconds: 75.5), to: &dashboard)
    dashboard.press(.enter)
    #expect(dashboard.prompts.question != nil)
  }

  @Test(
    "QV-12: If the text was not changed, the limit is as before, also if the text is rounded",
    arguments: [
      (Limit(count: 5, periodSeconds: 75.5), "5/1m15s"),
      (Limit(count: 5, periodSeconds: 0.0004), "5/0ms"),
      (Limit(count: 2_000_000, periodSeconds: 1), "2000000/s"),
    ])
  func unchangedText(limit: QueueReport.StartLimit, text: String) {
    var dashboard = Self.dashboard()
    Self.report(limit, to: &dashboard)
    dashboard.press("r")
    #expect(dashboard.text().shows("limit of starts of cpu: \(text)_   Enter accept"))
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("queue cpu: limit of starts \(text), as before"))
    #expect(dashboard.prompts.question == nil && dashboard.prompts.text == nil)
  }

  @Test(
    "QV-12: A request without success is forgotten",
    arguments: [CommandResult.Outcome.denied, .unknown, .lost, .refused])
  func failures(outcome: CommandResult.Outcome) {
    var dashboard = Self.dashboard(source: .demo)
    dashboard.press("r5/s")
    dashboard.press(.enter)
    Self.answer(Self.five, outcome, to: &dashboard)
    #expect(!dashboard.text().shows("→5/s"))
    if outcome == .refused { #expect(dashboard.text().shows(CommandResult.cannotSetStartLimit)) }
  }

  @Test("QV-12: The question closes with its queue, and so does the prompt")
  func theQueueDisappears() {
    var dashboard = Self.dashboard()
    dashboard.press("r5/s")
    dashboard.press(.enter)
    dashboard.take(.monitor(.update(Update(time: dashboard.now))))
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("limit of starts not changed: the queue no longer exists"))
    var other = Self.dashboard()
    other.press("r5/s")
    other.take(.monitor(.update(Update(time: other.now))))
    #expect(other.press(.enter) == [.bell])
    #expect(other.text().shows("the queue no longer exists"))
  }

  @Test("QV-12: A read-only viewer limits nothing")
  func readOnly() {
    var dashboard = Self.dashboard(isReadOnly: true)
    #expect(dashboard.press("r") == [.bell])
    #expect(dashboard.prompts.text == nil)
    #expect(!dashboard.text().shows("r Limit"))
  }
}
