// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests with messages of version 1.1 of the protocol, which has no failed operations.
@Suite struct SecondVersionTests {
  /// A greeting and an update as hexadecimal digits, encoded by version 1.1.
  private static let frames = [
    """
    0a370a064f50514d4f4e1204080110011a0574696c657320e7243080e497d01239000010208cc0da\
    4140014a08316630633561336550045863
    """,
    """
    12d8010801100118102a11080312036e65741a063003380140042009321a080112056a6f6220311a\
    034a6f62200328065801600268037804321d080212056a6f6220321a034a6f62200328063a010158\
    01600268037804321d080312056a6f6220331a034a6f62200328063a01025801600268037804321d\
    080412056a6f6220341a034a6f62200328073a01035801600268037804400448046a130a11080b10\
    011a056a6f62203120032804300672150a11080112056a6f62203118032006280330041001a20113\
    0a070a036a6f62100110042204000102032801
    """,
  ]

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  private static func time(_ nanoseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: nanoseconds)
  }

  /// Returns the update of the second frame. If `failed` is not `nil`, the operations 1 and 2 have failed
  /// with this text.
  private static func update(failed: String?) -> Update {
    let state: OperationState = failed == nil ? .finished : .failed
    func report(_ id: UInt64, _ state: OperationState) -> OperationReport {
      var report = OperationReport(
        id: .init(id), name: "job \(id)", className: "Job", queue: .init(3), state: state,
        dependencies: id > 1 ? [.init(id - 1)] : [], added: time(1), becameReady: time(2),
        started: time(3), finished: time(4))
      if state == .failed { report.errorText = failed }
      return report
    }
    let counts = StateCounts(
      finished: 3, failed: failed == nil ? 0 : 2, cancelled: 1, total: 4)
    var cancelled = report(4, .cancelled)
    if failed != nil { cancelled.cancellationCause = .code(reason: "no longer needed") }
    var update = Update(
      time: time(16), queues: [QueueReport(id: .init(3), name: "net", counts: counts, width: 9)],
      changed: [report(1, state), report(2, state), report(3, .finished), cancelled],
      matchCount: 4, keptCount: 4)
    update.events = EventNews(
      events: [
        OperationEvent(
          time: time(11), operation: .init(1), title: "job 1", queue: .init(3), old: .executing,
          new: state)
      ])
    update.runs = RecentRuns(
      runs: [
        OperationRun(
          id: .init(1), title: "job 1", queue: .init(3), state: state, started: time(3),
          finished: time(4))
      ], count: 1)
    update.matches = SearchMatches(.init(text: "job", start: .init(1)), count: 4, position: 1) {
      $0.map { .init(UInt64($0)) }
    }
    return update
  }

  /// The numbers of the fields that version 1.2 has added, by the fields that lead to their message.
  private static let newFields: [[UInt64]: Set<UInt64>] = [
    [2]: [21, 22, 23, 24, 25, 26, 27], [2, 5, 3]: [9], [2, 13, 1]: [7], [2, 14, 1]: [7],
  ]

  /// Returns a message without the fields that version 1.1 does not know and therefore skips.
  private static func asReadByTheSecondVersion(
    _ message: [UInt8], path: [UInt64] = []
  ) -> [UInt8] {
    var rest = message[...]
    func varint() -> UInt64 {
      var (value, shift) = (UInt64(0), UInt64(0))
      while let byte = rest.popFirst() {
        value |= UInt64(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { break }
      }
      return value
    }
    var read: [UInt8] = []
    while !rest.isEmpty {
      let tag = varint()
      let (field, type) = (tag >> 3, tag & 7)
      let isNew = newFields[path]?.contains(field) == true
      switch type {
      case 0:
        let value = varint()
        if !isNew { read += HandMade.number(Int(field), value) }
      case 1:
        if !isNew { read += HandMade.tag(Int(field), 1) + rest.prefix(8) }
        rest = rest.dropFirst(8)
      default:
        let count = Int(varint())
        let content = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        if isNew { continue }
        let inner = path + [field]
        let hasNewFields = newFields.keys.contains { $0.starts(with: inner) }
        read += HandMade.bytes(
          Int(field), hasNewFields ? asReadByTheSecondVersion(content, path: inner) : content)
      }
    }
    return read
  }

  /// Returns the update in a message of one part.
  private static func content(of frame: [UInt8]) throws -> Update {
    let message = try ProcessMessage(decoding: frame)
    guard case .updatePart(let part) = message else {
      throw WireError("the message is not an update: \(message)")
    }
    return part.content
  }

  @Test("This version reads an update of version 1.1, in which no operation has failed")
  func updatesOfTheSecondVersionStayReadable() throws {
    guard
      case .hello(let hello, let versions) = try ProcessMessage(
        decoding: Self.bytes(Self.frames[0])),
      case .updatePart(let part) = try ProcessMessage(decoding: Self.bytes(Self.frames[1]))
    else {
      Issue.record("they are something else")
      return
    }
    #expect(versions.isCompatible(with: .current) && hello.startTicks == 99)
    #expect(part.content == Self.update(failed: nil))
  }

  @Test("Version 1.1 reads an update with failures and causes of cancellations, without either")
  func theSecondVersionReadsFailures() throws {
    let frames = Array(UpdateParts(Self.update(failed: "disk full")))
    #expect(frames.count == 1)
    let frame = try #require(frames.first)
    #expect(frame != Self.bytes(Self.frames[1]))
    #expect(Self.asReadByTheSecondVersion(frame) == Self.bytes(Self.frames[1]))
  }

  @Test(
    "A failed operation arrives with its error, its event, its run and the counts",
    arguments: ["disk full", "", nil])
  func failuresArrive(text: String?) throws {
    var update = Self.update(failed: "")
    for index in update.changed.indices where update.changed[index].state == .failed {
      update.changed[index].errorText = text
    }
    // A cancelled operation may have an error too.
    update.changed[3].errorText = text
    let frame = try #require(Array(UpdateParts(update)).first)
    let content = try Self.content(of: frame)
    #expect(content == update)
  }

  @Test(
    "The cause of a cancellation arrives",
    arguments: [
      .code(reason: nil), .code(reason: "disk full"), .code(reason: ""), .dependency(.init(0)),
      .dependency(.init(3)), .container(.init(3)), .timeout(.init(.max)), .timeLimit,
      .queue(.init(3), reason: nil), .queue(.init(0), reason: "shutting down"),
      .viewer(CommandOrigin(processID: 123, userID: 1_000)),
      .viewer(CommandOrigin(processID: 0, userID: 0)),
    ] as [OperationReport.CancellationCause])
  func causesArrive(cause: OperationReport.CancellationCause) throws {
    for state in [OperationState.cancelled, .cancelling] {
      var update = Self.update(failed: nil)
      update.changed[3].state = state
      update.changed[3].cancellationCause = cause
      let frame = try #require(Array(UpdateParts(update)).first)
      let content = try Self.content(of: frame)
      #expect(content == update)
    }
  }

  @Test(
    "A cause is ignored if it is unknown, or its operation was not cancelled or is not in the message"
  )
  func strayCausesAreIgnored() throws {
    let causes =
      HandMade.message(23, HandMade.number(1, 7), HandMade.number(2, 1))
      + HandMade.message(23, HandMade.number(1, 8), HandMade.number(99, 1))
      + HandMade.message(23, HandMade.number(1, 9), HandMade.number(2, 1))
    let operations =
      HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 4))
      + HandMade.message(6, HandMade.number(1, 8), HandMade.number(5, 7))
    let frame = HandMade.update(operations, causes)
    let content = try Self.content(of: frame)
    #expect(content.changed.map(\.state) == [.executing, .cancelled])
    #expect(content.changed.allSatisfy { $0.cancellationCause == nil })
  }

  @Test("Version 1.1 reads an update with kinds, and does not know them")
  func theSecondVersionReadsKinds() throws {
    var update = Self.update(failed: nil)
    for index in update.changed.indices { update.changed[index].givenKind = "kind \(index % 2)" }
    let frame = try #require(Array(UpdateParts(update)).first)
    #expect(Self.asReadByTheSecondVersion(frame) == Self.bytes(Self.frames[1]))
    let content = try Self.content(of: frame)
    #expect(content == update)
  }

  @Test("Version 1.1 reads an update with the attempts of a retry, and does not know them")
  func theSecondVersionReadsAttempts() throws {
    var update = Self.update(failed: nil)
    update.changed[1].attempts = WireSamples.attempts
    update.changed[2].attempts = RetryAttempts(maximum: 1)
    let frame = try #require(Array(UpdateParts(update)).first)
    #expect(Self.asReadByTheSecondVersion(frame) == Self.bytes(Self.frames[1]))
    let content = try Self.content(of: frame)
    #expect(content == update)
  }

  @Test(
    "At most 16 attempts are read, in ascending order and with known states, of a retry in the message"
  )
  func strayAttemptsAreIgnored() throws {
    func attempt(_ number: UInt64, state: UInt64 = 6) -> [UInt8] {
      HandMade.message(4, HandMade.number(2, number), HandMade.number(5, state))
    }
    func attempts(of id: UInt64, _ attempts: [UInt8]) -> [UInt8] {
      HandMade.message(24, HandMade.number(1, id), attempts)
    }
    let operation = HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 4))
    for (sent, read) in [
      ((1...40).flatMap { attempt($0) }, Array(25...40)),
      (
        attempt(0) + attempt(3) + attempt(3) + attempt(2) + attempt(5, state: 99) + attempt(6),
        [3, 6]
      ),
      ([], []),
    ] as [([UInt8], [Int])] {
      let frame = HandMade.update(operation, attempts(of: 8, attempt(1)), attempts(of: 7, sent))
      let content = try Self.content(of: frame)
      #expect(content.changed.map { $0.attempts?.attempts.map(\.number) } == [read])
    }
  }

  @Test("An update without kinds has the bytes of version 1.1, and a kind is in a message once")
  func kindsAreCheap() throws {
    var update = Self.update(failed: nil)
    let plain = try #require(Array(UpdateParts(update)).first)
    #expect(plain == Self.bytes(Self.frames[1]))
    let kind = String(repeating: "k", count: 100)
    for index in update.changed.indices { update.changed[index].givenKind = kind }
    let frame = try #require(Array(UpdateParts(update)).first)
    #expect(frame.count - plain.count < 120)
  }

  @Test("A kind of an operation that is not in the message, and an empty kind, are ignored")
  func strayKindsAreIgnored() throws {
    let text = String(repeating: "漢", count: 5_000)
    func kind(_ kind: String, of id: Int) -> [UInt8] {
      HandMade.message(25, HandMade.text(1, kind), HandMade.number(2, UInt64(id)))
    }
    let operations = (7...8).map {
      HandMade.message(
        6, HandMade.number(1, UInt64($0)), HandMade.text(3, "Job"), HandMade.number(5, 4))
    }
    let frame = HandMade.update(
      operations[0], operations[1], kind("", of: 7), kind(text, of: 8), kind("a", of: 9))
    let content = try Self.content(of: frame)
    #expect(content.changed.map(\.kind).first == "Job")
    #expect(content.changed.last?.kind == String(repeating: "漢", count: 1_363) + "…")
  }

  @Test("An error of an operation that is not in the message, or that executes, makes nothing fail")
  func strayErrorsAreIgnored() throws {
    let errors =
      HandMade.message(21, HandMade.number(1, 7), HandMade.text(2, "a"))
      + HandMade.message(21, HandMade.number(1, 8), HandMade.text(2, "b"))
    let operation = HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 4))
    let frame = HandMade.update(operation, errors)
    let content = try Self.content(of: frame)
    #expect(content.changed.map(\.state) == [.executing])
  }

  @Test("The text of an error has at most 1 KiB, also if the process sends more")
  func longTextsAreCut() throws {
    let text = String(repeating: "漢", count: 5_000)
    let error = HandMade.message(21, HandMade.number(1, 7), HandMade.text(2, text))
    let operation = HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 6))
    let content = try Self.content(of: HandMade.update(operation, error))
    let report = try #require(content.changed.first)
    #expect(report.state == .failed)
    #expect(report.errorText == String(repeating: "漢", count: 339) + "…")
  }

  @Test("The text of a reason has at most 1 KiB, also if the process sends more")
  func longReasonsAreCut() throws {
    let reason = HandMade.message(
      23, HandMade.number(1, 7), HandMade.number(2, 1),
      HandMade.text(9, String(repeating: "漢", count: 5_000)))
    let operation = HandMade.message(6, HandMade.number(1, 7), HandMade.number(5, 7))
    let content = try Self.content(of: HandMade.update(operation, reason))
    #expect(
      content.changed.first?.cancellationCause?.reason
        == String(repeating: "漢", count: 339) + "…")
  }
}
