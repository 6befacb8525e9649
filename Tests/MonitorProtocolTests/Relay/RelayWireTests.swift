// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import MonitorProtocol

/// Tests of the messages between a viewer and a relay.
@Suite("Messages of a relay") struct RelayWireTests {
  private static let bytes: [UInt8] = [0, 255, 10, 1] + Array("update".utf8)

  private static let requests: [RelayRequest] = [
    .hello(.current), .hello(ProtocolVersions(major: 9, minor: .max)),
    .open(connection: 1, target: 1), .open(connection: .max, target: .max),
    .message(RelayedMessage(connection: 7, bytes: bytes)),
    .message(RelayedMessage(connection: 0, bytes: [])), .close(connection: 0),
    .close(connection: .max), .ping(0), .ping(.max), .unknown,
  ]

  private static let refusal = RelayRefusal(
    .nothingThere, "there is no process 4711", hasProcessEnded: true)

  private static let answers: [RelayAnswer] = [
    .greeting([], versions: .current),
    .greeting(
      [
        RelayTarget(processID: 4_711, path: "/run/user/1000/opq/4711-5.sock"),
        RelayTarget(processID: 0, path: "", refusal: refusal),
        RelayTarget(processID: 5, path: "/tmp/5-7.sock", isFound: true),
        RelayTarget(
          processID: 1, path: "", refusal: RelayRefusal(.denied, "no", hasProcessEnded: false)),
      ], versions: ProtocolVersions(major: 2, minor: 5)),
    .message(RelayedMessage(connection: 7, bytes: bytes)),
    .end(connection: 3, refusal),
    .end(connection: 4, RelayRefusal(.lost, "", hasProcessEnded: false)), .pong(0), .pong(.max),
    .bye(Farewell(cause: .versionMismatch, reason: "other")),
  ]

  @Test("A request arrives unchanged", arguments: requests)
  func requestsArrive(_ request: RelayRequest) throws {
    #expect(try RelayRequest(decoding: request.encoded()) == request)
  }

  @Test("An answer arrives unchanged", arguments: answers)
  func answersArrive(_ answer: RelayAnswer) throws {
    #expect(try RelayAnswer(decoding: answer.encoded()) == answer)
  }

  @Test("An answer without bytes is refused")
  func emptyAnswer() {
    #expect(throws: WireError.self) { try RelayAnswer(decoding: []) }
  }

  @Test("The bytes of a message are those of the schema")
  func schema() {
    let message = RelayedMessage(connection: 300, bytes: Self.bytes)
    let content = HandMade.number(1, 300) + HandMade.bytes(2, Self.bytes)
    #expect(RelayRequest.message(message).encoded() == HandMade.bytes(3, content))
    #expect(RelayAnswer.message(message).encoded() == HandMade.bytes(2, content))
  }

  @Test(
    "The longest message of a socket fits into a message of a relay, and a longer one is refused")
  func longestMessage() throws {
    let longest = RelayedMessage(
      connection: .max, bytes: Array(repeating: 1, count: WireLimits.maximumMessageSize))
    let request = RelayRequest.message(longest)
    #expect(request.encoded().count <= WireLimits.maximumEnvelopeSize)
    #expect(try RelayRequest(decoding: request.encoded()) == request)
    var longer = longest
    longer.bytes.append(1)
    #expect(throws: WireError.self) {
      try RelayRequest(decoding: RelayRequest.message(longer).encoded())
    }
    #expect(throws: WireError.self) {
      try RelayAnswer(decoding: Array(repeating: 0, count: WireLimits.maximumEnvelopeSize + 1))
    }
  }

  @Test("A greeting without the magic word is refused")
  func magic() {
    for magic in ["OPQMON", "opqrelay", ""] {
      let greeting = HandMade.message(1, HandMade.text(1, magic))
      #expect(throws: WireError.self) { try RelayRequest(decoding: greeting) }
      #expect(throws: WireError.self) { try RelayAnswer(decoding: greeting) }
    }
  }

  @Test("The number of a connection and that of a target are from 1")
  func numbers() {
    for (connection, target) in [(0, 1), (1, 0), (0, 0)] as [(UInt64, UInt64)] {
      let opening = HandMade.message(2, HandMade.number(1, connection), HandMade.number(2, target))
      #expect(throws: WireError.self) { try RelayRequest(decoding: opening) }
    }
  }

  private func greeting(_ target: [UInt8], count: Int = 1) -> [UInt8] {
    let targets = (0..<count).flatMap { _ in HandMade.bytes(3, target) }
    return HandMade.message(1, HandMade.text(1, "OPQRELAY"), targets)
  }

  @Test("A greeting with an invalid path, an invalid id or too many targets is refused")
  func hostileTargets() throws {
    let good = greeting(HandMade.number(1, 5) + HandMade.text(2, "/a"), count: 1_000)
    #expect(throws: Never.self) { try RelayAnswer(decoding: good) }
    let longPath = String(repeating: "a", count: WireLimits.longestText + 1)
    for bad in [
      greeting(HandMade.text(2, "/a\0b")), greeting(HandMade.text(2, longPath)),
      greeting(HandMade.signed(1, -1)), greeting([], count: 1_001),
    ] {
      #expect(throws: WireError.self) { try RelayAnswer(decoding: bad) }
    }
  }

  @Test("A greeting with more targets than a message can contain leaves out the last ones")
  func manyTargets() throws {
    let path = String(repeating: "p", count: 2_000)
    let targets = (1...1_200).map { RelayTarget(processID: Int32($0), path: path) }
    let answer = RelayAnswer.greeting(targets, versions: .current)
    #expect(answer.encoded().count <= WireLimits.maximumEnvelopeSize)
    guard case .greeting(let sent, _) = try RelayAnswer(decoding: answer.encoded()) else {
      Issue.record("no greeting")
      return
    }
    #expect(sent == Array(targets.prefix(sent.count)) && sent.count > 400)
    let short = RelayAnswer.greeting(
      targets.map { RelayTarget(processID: $0.processID, path: "/a") }, versions: .current)
    guard case .greeting(let named, _) = try RelayAnswer(decoding: short.encoded()) else {
      Issue.record("no greeting")
      return
    }
    #expect(named.count == WireLimits.mostRelayTargets)
  }

  @Test("Fields and messages of a later version are skipped")
  func laterVersions() throws {
    let known = RelayRequest.ping(5)
    #expect(
      try RelayRequest(decoding: known.encoded() + HandMade.unknownFields) == known)
    #expect(try RelayRequest(decoding: HandMade.text(99, "later")) == .unknown)
    #expect(try RelayAnswer(decoding: HandMade.text(99, "later")) == .unknown)
    let end = HandMade.message(
      3, HandMade.number(1, 2), HandMade.message(2, HandMade.number(1, 99)))
    #expect(
      try RelayAnswer(decoding: end)
        == .end(connection: 2, RelayRefusal(.lost, "", hasProcessEnded: false)))
  }

  @Test("Damaged and arbitrary bytes are decoded or refused, and never trap")
  func damagedBytes() {
    let frames = Self.requests.map { $0.encoded() } + Self.answers.map { $0.encoded() }
    for frame in frames {
      for index in frame.indices {
        for bit in 0..<8 {
          var damaged = frame
          damaged[index] ^= 1 << bit
          _ = try? RelayRequest(decoding: damaged)
          _ = try? RelayAnswer(decoding: damaged)
        }
        _ = try? RelayRequest(decoding: Array(frame.prefix(index)))
        _ = try? RelayAnswer(decoding: Array(frame.prefix(index)))
      }
    }
    var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<2_000 {
      let count = Int.random(in: 0...60, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      _ = try? RelayRequest(decoding: bytes)
      _ = try? RelayAnswer(decoding: bytes)
    }
  }
}
