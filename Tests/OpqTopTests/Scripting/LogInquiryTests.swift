// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of `opq-top log`, which prints the log lines of an operation.
@Suite struct LogInquiryTests {
  private typealias Scene = InquiryScene

  private static func line(_ number: Int, _ text: String? = nil) -> LogLine {
    LogLine(
      time: Scene.moment(Double(number) / 8 + 0.0005), level: number == 1 ? .warning : .info,
      text: text ?? "line \(number)")
  }

  private static func update(
    _ lines: Range<Int>?, _ report: OperationReport? = Scene.reports[0], mayBeDropped: Bool = false
  ) -> MonitorMessage {
    guard case .update(var update) = Scene.update(report.map { [$0] } ?? []) else {
      return Scene.update()
    }
    if let lines {
      update.logs = [
        OperationLog(
          of: Scene.id(1), first: UInt64(lines.lowerBound), lines: lines.map { line($0) },
          mayBeDropped: mayBeDropped)
      ]
    }
    return .update(update)
  }

  private func inquiry(follows: Bool = false, _ form: InquiryForm = InquiryForm()) -> LogInquiry {
    LogInquiry(Scene.id(1), follows: follows, form)
  }

  @Test("log prints the time in UTC, the level and the text of each line")
  func lines() {
    var inquiry = inquiry()
    #expect(inquiry.interest.logs == .operations([Scene.id(1)]))
    #expect(
      inquiry.hear(Scene.hello(), Self.update(0..<3)) == [
        .print(
          """
          22:13:20.250 info     line 0
          22:13:20.375 warning  line 1
          22:13:20.500 info     line 2

          """), .success,
      ])
  }

  @Test("log prints how many lines were dropped before the first one")
  func dropped() {
    var many = inquiry()
    let actions = many.hear(Scene.hello(), Self.update(12..<13))
    #expect(actions.first == .print("(12 lines were dropped)\n22:13:21.750 info     line 12\n"))
    var one = inquiry()
    guard case .print(let text)? = one.hear(Scene.hello(), Self.update(1..<2)).first else {
      Issue.record("nothing is printed")
      return
    }
    #expect(text.hasPrefix("(1 line was dropped)\n"))
  }

  @Test("log --json prints an object for each line")
  func json() {
    var inquiry = inquiry(InquiryForm(isJSON: true))
    let actions = inquiry.hear(Scene.hello(), Self.update(1..<2))
    #expect(
      actions == [
        .print(
          """
          {"level":"warning","number":1,"operation":1,"schema":"opq.log/1","text":"line 1",\
          "time":{"monotonic":1000125500000,"wallClock":"2023-11-14T22:13:20.375Z"}}

          """), .success,
      ])
  }

  @Test(
    "No control character of a line is printed",
    arguments: [InquiryForm(), InquiryForm(isUnicode: false), InquiryForm(isJSON: true)])
  func hostileText(form: InquiryForm) {
    guard case .update(var update) = Self.update(nil) else { return }
    let text = "\u{1B}[2J\u{9B}31m\u{7}\r\n\u{202E}\u{2028}x"
    update.logs = [OperationLog(of: Scene.id(1), lines: [Self.line(0, text)])]
    var inquiry = inquiry(form)
    guard case .print(let printed)? = inquiry.hear(Scene.hello(), .update(update)).first else {
      Issue.record("nothing is printed")
      return
    }
    #expect(printed.hasSuffix("\n") && !printed.dropLast().contains { $0.isNewline })
    #expect(!printed.dropLast().unicodeScalars.contains { $0.isObeyed })
    #expect(form.isUnicode || printed.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test("An operation without lines ends with the status 0 and a message")
  func empty() {
    var known = inquiry()
    #expect(
      known.hear(Scene.hello(), Self.update(0..<0)) == [.end(0, "#1 job 1 has logged nothing")])
    var dropped = inquiry()
    #expect(
      dropped.hear(Scene.hello(), Self.update(0..<0, mayBeDropped: true)) == [
        .end(0, "#1 job 1 has logged nothing, or the process has dropped its lines")
      ])
  }

  @Test("An unknown operation without lines ends with the status 1, and one with lines does not")
  func unknown() {
    let message = "#1 is unknown: it finished long ago, is not in a queue, or never existed"
    var unknown = inquiry()
    #expect(unknown.hear(Scene.hello(), Self.update(0..<0, nil)) == [])
    #expect(unknown.look(atSeconds: 2) == [.end(1, message)])
    var old = inquiry()
    let actions = old.hear(Scene.hello(), Self.update(0..<1, nil))
    #expect(actions == [.print("22:13:20.250 info     line 0\n"), .success])
  }

  @Test("A process that sends no log ends the command with the status 1")
  func olderProcess() {
    var inquiry = inquiry()
    #expect(inquiry.hear(Scene.hello(), Self.update(nil)) == [])
    #expect(
      inquiry.look(atSeconds: 2) == [
        .end(1, "the process sends no log lines, because it uses an older version of opq")
      ])
  }

  @Test("log --follow prints new lines once, until the operation has finished")
  func follows() {
    var inquiry = inquiry(follows: true)
    #expect(
      inquiry.hear(Scene.hello(), Self.update(0..<1)) == [
        .print("22:13:20.250 info     line 0\n")
      ])
    #expect(inquiry.hear(Self.update(nil)) == [])
    #expect(
      inquiry.hear(Self.update(1..<2), at: 3) == [.print("22:13:20.375 warning  line 1\n")])
    #expect(
      inquiry.hear(Self.update(4..<5), at: 4) == [
        .print("(2 lines were dropped)\n22:13:20.750 info     line 4\n")
      ])
    #expect(inquiry.hear(.silent(for: .seconds(60)), at: 64) == [])
    let over = Scene.report(1, .finished, started: -4, finished: 5)
    #expect(
      inquiry.hear(Self.update(5..<6, over), at: 65) == [
        .print("22:13:20.875 info     line 5\n"), .success,
      ])
  }

  @Test("log --follow ends with the status 1 if the process ends first")
  func processEnds() {
    var inquiry = inquiry(follows: true)
    _ = inquiry.hear(Scene.hello(), Self.update(0..<1))
    #expect(
      inquiry.hear(.ended(reason: "the process has ended")).last
        == .end(1, "the process has ended"))
  }

  @Test("--follow and --recording cannot be combined")
  func arguments() {
    #expect(throws: (any Error).self) {
      try OpqTop.parseAsRoot(["log", "7", "--follow", "--recording", "x.opqrec"])
    }
    #expect(throws: Never.self) { try OpqTop.parseAsRoot(["log", "7", "-f", "-p", "5"]) }
    #expect(throws: Never.self) {
      try OpqTop.parseAsRoot(["log", "#7", "--recording", "x.opqrec", "--at", "3s", "--json"])
    }
  }
}
