// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol
@testable import MonitorClient

@Suite struct OperationLedgerTests {
  private let hello = Hello(
    processName: "service", processID: 7, isReadOnly: false, anchor: MonitorTime(nanoseconds: 1),
    anchorSecondsSince1970: 0, processStarted: MonitorTime(nanoseconds: 0))
  private static let tooMuch = AttachError(
    .lost, "the process reports more operations than opq-top can store")

  private func update(
    changed: [OperationReport] = [], removed: [OperationReport.ID] = []
  ) -> Update {
    Update(time: MonitorTime(nanoseconds: 1), changed: changed, removed: removed)
  }

  private func operation(_ id: UInt64, named name: String = "", dependencies: Int = 0)
    -> OperationReport
  {
    OperationReport(
      id: .init(id), name: name, className: "Job", queue: .init(1), state: .ready,
      dependencies: (0..<dependencies).map { .init(UInt64($0)) })
  }

  @Test("The memory of an operation includes its error, kind, status and attempts")
  func rareValues() {
    let plain = operation(1)
    let text = String(repeating: "x", count: 1_000)
    var report = plain
    report.errorText = text
    report.givenKind = text
    report.statusText = text
    let time = MonitorTime(nanoseconds: 1)
    let attempts = (1...16).map { number in
      RetryAttempts.Attempt(
        id: .init(1), number: number, name: text, kind: text, state: .failed, started: time)
    }
    report.attempts = RetryAttempts(
      maximum: 16, number: 16, attempts: attempts, lastFailure: .init(number: 16, text: text))
    let more = OperationLedger.size(of: report) - OperationLedger.size(of: plain)
    #expect(more >= 4_000 + 32_000)
  }

  @Test("An operation that changes again counts once, and a removed one no longer counts")
  func counts() {
    var ledger = OperationLedger()
    let short = operation(1)
    let long = operation(1, named: String(repeating: "é", count: 500), dependencies: 100)
    #expect(OperationLedger.size(of: long) - OperationLedger.size(of: short) == 1_000 + 3_200)
    var reasoned = short
    reasoned.cancellationCause = .code(reason: String(repeating: "é", count: 100))
    #expect(OperationLedger.size(of: reasoned) - OperationLedger.size(of: short) == 200)
    func isHeld(_ update: Update, byteCount: Int) -> Bool {
      ledger.enter(update) && ledger.byteCount == byteCount
    }
    for report in [short, long, long, short] {
      #expect(isHeld(update(changed: [report]), byteCount: OperationLedger.size(of: report)))
    }
    #expect(
      isHeld(
        update(changed: [operation(2)], removed: [.init(1), .init(7)]),
        byteCount: OperationLedger.size(of: operation(2))))
    #expect(isHeld(update(removed: [.init(2), .init(2)]), byteCount: 0))
  }

  @Test("Each of several processes has a share")
  func share() {
    let size = OperationLedger.size(of: operation(1))
    var ledger = OperationLedger(limit: 2 * size)
    func isHeld(_ update: Update) -> Bool { ledger.enter(update) }
    #expect(isHeld(update(changed: [operation(1), operation(2)])))
    #expect(!isHeld(update(changed: [operation(3)])))
    var conversation = ProcessConversation(ledger: OperationLedger(limit: size))
    _ = conversation.take(.hello(hello, versions: .current))
    _ = conversation.grant(1)
    let part = UpdatePart(
      content: update(changed: [operation(1), operation(2)]), isFirst: true, isLast: true)
    #expect(conversation.take(.updatePart(part)) == [.fail(Self.tooMuch)])
  }

  @Test("Four million operations of usual size fit")
  func isRoomy() {
    let usual = operation(1, named: "tile 1024", dependencies: 0)
    #expect(OperationLedger.size(of: usual) * 4_000_000 <= OperationLedger.mostBytes)
  }

  @Test(
    "A process that reports new operations without end, and removes none, is disconnected"
  )
  func hasAnEnd() {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: .current))
    // All operations have the same long name, and the test stores it only once, so that the test
    // needs little memory.
    let name = String(repeating: "x", count: 1 << 20)
    var last: [ProcessConversation.Action] = []
    var count = UInt64(0)
    while count < 2_000 {
      count += 1
      _ = conversation.grant(1)
      let part = UpdatePart(
        content: update(changed: [operation(count, named: name)]), isFirst: true, isLast: true)
      last = conversation.take(.updatePart(part))
      if case .fail = last.last { break }
    }
    #expect(last == [.fail(Self.tooMuch)])
    // The last operation is the first one that does not fit into the limit of 1 GiB.
    #expect(count == 1_024)
  }
}
