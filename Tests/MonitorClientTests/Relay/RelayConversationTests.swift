// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The conversation of a relay") struct RelayConversationTests {
  private let refusal = RelayRefusal(.denied, "no", hasProcessEnded: false)

  private func open() -> RelayConversation {
    var conversation = RelayConversation()
    _ = conversation.take(.hello(.current))
    _ = conversation.greet([
      RelayTarget(processID: 1, path: "/a"), RelayTarget(processID: 2, path: "", refusal: refusal),
    ])
    return conversation
  }

  private func isFault(_ actions: [RelayConversation.Action]) -> Bool {
    guard actions.count == 1, case .fail(let farewell) = actions[0] else { return false }
    return farewell.cause == .malformedMessage
  }

  @Test("The relay finds its targets after the greeting, and answers pings meanwhile")
  func greeting() {
    var conversation = RelayConversation()
    #expect(conversation.take(.hello(.current)) == [.find])
    #expect(conversation.take(.ping(5)) == [.send(.pong(5))])
    let targets = [RelayTarget(processID: 1, path: "/a")]
    #expect(
      conversation.greet(targets) == [.send(.greeting(targets, versions: .current))])
    #expect(conversation.greet(targets) == [])
  }

  @Test("A viewer of another major version is refused with the versions of the relay")
  func versions() {
    var conversation = RelayConversation()
    let actions = conversation.take(.hello(ProtocolVersions(major: 8, minor: 0)))
    guard case .fail(let farewell) = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(farewell.cause == .versionMismatch && farewell.versions == .current)
    #expect(conversation.take(.hello(.current)) == [])
    var newer = RelayConversation()
    let minor = ProtocolVersions.current.minor + 1
    #expect(
      newer.take(.hello(ProtocolVersions(major: ProtocolVersions.current.major, minor: minor)))
        == [.find])
  }

  @Test("Messages are forwarded only between the opening and the end of their connection")
  func connections() {
    var conversation = open()
    let message = RelayedMessage(connection: 1, bytes: [1])
    #expect(conversation.take(.message(message)) == [])
    #expect(
      conversation.take(.open(connection: 1, target: 1)) == [.connect(connection: 1, path: "/a")])
    #expect(conversation.take(.message(message)) == [.forward(message)])
    #expect(conversation.end(1, refusal) == [.send(.end(connection: 1, refusal))])
    #expect(conversation.end(1, refusal) == [])
    #expect(conversation.take(.message(message)) == [])
    #expect(conversation.take(.close(connection: 1)) == [])
    // The same target can have several connections.
    for connection: UInt32 in [2, 3] {
      #expect(
        conversation.take(.open(connection: connection, target: 1))
          == [.connect(connection: connection, path: "/a")])
    }
    #expect(conversation.take(.close(connection: 2)) == [.close(connection: 2)])
    #expect(conversation.end(2, refusal) == [])
    #expect(
      conversation.take(.message(RelayedMessage(connection: 3, bytes: [2])))
        == [.forward(RelayedMessage(connection: 3, bytes: [2]))])
  }

  @Test("A connection to a target with a refusal ends with the refusal")
  func refusals() {
    var conversation = open()
    #expect(
      conversation.take(.open(connection: 1, target: 2)) == [.send(.end(connection: 1, refusal))])
  }

  @Test("A request at the wrong moment ends the relay")
  func order() {
    for early in [
      RelayRequest.ping(1), .open(connection: 1, target: 1), .close(connection: 1),
      .message(RelayedMessage(connection: 1, bytes: [])),
    ] {
      var conversation = RelayConversation()
      #expect(isFault(conversation.take(early)))
    }
    var finding = RelayConversation()
    _ = finding.take(.hello(.current))
    #expect(isFault(finding.take(.open(connection: 1, target: 1))))
    #expect(finding.greet([]) == [])
    for late in [RelayRequest.hello(.current), .open(connection: 1, target: 3)] {
      var conversation = open()
      #expect(isFault(conversation.take(late)))
    }
    var repeated = open()
    _ = repeated.take(.open(connection: 5, target: 1))
    #expect(isFault(repeated.take(.open(connection: 5, target: 1))))
    var unknown = open()
    #expect(unknown.take(.unknown) == [])
  }
}
