// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import opq_top

@Suite struct ProcessConversationTests {
  private let hello = Hello(
    processName: "service", processID: 7, isReadOnly: false, anchor: MonitorTime(nanoseconds: 1),
    anchorSecondsSince1970: 0, processStarted: MonitorTime(nanoseconds: 0))

  private func greeted() -> ProcessConversation {
    var conversation = ProcessConversation()
    _ = conversation.take(.hello(hello, versions: .current))
    return conversation
  }

  private func failure(_ actions: [ProcessConversation.Action]) -> AttachError? {
    if case .fail(let error) = actions.last { error } else { nil }
  }

  @Test("A greeting of this major version is taken, whatever its minor one; another is refused")
  func versions() {
    let newer = ProtocolVersions(
      major: ProtocolVersions.current.major, minor: ProtocolVersions.current.minor + 3)
    var conversation = ProcessConversation()
    #expect(
      conversation.take(.hello(hello, versions: newer)) == [.greeted(hello, versions: newer)])
    var other = ProcessConversation()
    let error = failure(
      other.take(.hello(hello, versions: ProtocolVersions(major: 8, minor: 0))))
    #expect(error?.kind == .versionMismatch)
    #expect(
      error?.description
        == "the process speaks version 8.0 of the protocol, and this opq-top 1.0")
  }

  @Test("What a process says at the wrong moment ends the connection in a sentence")
  func order() {
    var early = ProcessConversation()
    #expect(failure(early.take(.pong(1)))?.kind == .lost)
    var twice = greeted()
    #expect(failure(twice.take(.hello(hello, versions: .current)))?.kind == .lost)
    var unknown = ProcessConversation()
    #expect(unknown.take(.unknown) == [])
  }

  @Test("The end of the process is told to the viewer, and other farewells with their status")
  func farewells() {
    var ends = greeted()
    #expect(
      ends.take(.bye(Farewell(cause: .processEnds, reason: "it listens no more")))
        == [.deliver(.ended(reason: "it listens no more"))])
    var full = ProcessConversation()
    #expect(
      failure(full.take(.bye(Farewell(cause: .tooManyViewers, reason: "full"))))?.kind == .denied)
    var old = ProcessConversation()
    let versions = ProtocolVersions(major: 2, minor: 5)
    let farewell = Farewell(cause: .versionMismatch, reason: "", versions: versions)
    #expect(failure(old.take(.bye(farewell)))?.kind == .versionMismatch)
  }

  @Test("A result is given with the command that it answers, and one that nobody asked for is not")
  func results() {
    var conversation = greeted()
    let command = MonitorCommand.cancel([.init(3)])
    let token = conversation.token(for: command)
    #expect(token != conversation.token(for: .setSuspended(.init(1), true)))
    let answer = ProcessMessage.commandResult(
      token: token, outcomes: [.requested], dependents: [.init(9)])
    let result = CommandResult(command: command, outcomes: [.requested], dependents: [.init(9)])
    #expect(conversation.take(answer) == [.deliver(.commandResult(result))])
    #expect(conversation.take(answer) == [])
  }

  @Test("Attempts to get a connection back become rarer, up to one in five seconds, and begin anew")
  func reconnection() {
    var reconnection = Reconnection()
    let delays = (0..<12).map { _ in reconnection.delay() }
    #expect(delays.first == .milliseconds(100))
    #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(delays.last == Reconnection.longestDelay)
    reconnection.succeed()
    #expect(reconnection.delay() == .milliseconds(100))
  }

  @Test("An argument is the id of a process or the path of a socket")
  func targets() {
    #expect(AttachTarget("4711") == .process(4711))
    #expect(AttachTarget("0") == nil)
    #expect(AttachTarget("99999999999") == nil)
    #expect(AttachTarget("./a.sock") == .socket("./a.sock"))
    #expect(AttachTarget("-1") == .socket("-1"))
  }
}
