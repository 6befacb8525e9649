// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsMonitor

@Suite struct ViewerConversationTests {
  private let hello = ViewerMessage.hello(ViewerHello(processID: 1, isReadOnly: false))

  private func farewell(in actions: [ViewerConversation.Action]) -> Farewell? {
    for case .send(.bye(let farewell)) in actions { return farewell }
    return nil
  }

  @Test("A viewer that has sent a greeting may request everything")
  func greets() {
    var conversation = ViewerConversation()
    #expect(conversation.take(hello) == [.greet])
    let interest = Interest(hidesOver: true)
    #expect(
      conversation.take(.watch(interest, interval: .seconds(1)))
        == [.watch(interest, interval: .seconds(1))])
    #expect(conversation.take(.command(.cancel([]), token: 7)) == [.perform(.cancel([]), token: 7)])
    #expect(conversation.take(.credit(3)) == [.credit(3)])
    #expect(conversation.take(.ping(5)) == [.send(.pong(5))])
    #expect(conversation.take(.unknown) == [])
    #expect(conversation.take(.bye(reason: "")) == [.close])
    #expect(conversation.take(.ping(5)) == [])
  }

  @Test(
    "Another major version is refused with both versions named, and another minor version is not")
  func versions() {
    var conversation = ViewerConversation()
    let newer = ProtocolVersions(
      major: ProtocolVersions.current.major, minor: ProtocolVersions.current.minor + 7)
    #expect(
      conversation.take(.hello(ViewerHello(versions: newer, processID: 1, isReadOnly: false)))
        == [.greet])
    var other = ViewerConversation()
    let versions = ProtocolVersions(major: 99, minor: 0)
    let actions = other.take(
      .hello(ViewerHello(versions: versions, processID: 1, isReadOnly: false)))
    #expect(farewell(in: actions)?.cause == .versionMismatch)
    #expect(farewell(in: actions)?.reason.contains("99.0") == true)
    #expect(farewell(in: actions)?.versions == .current)
    #expect(actions.last == .close)
  }

  @Test("A viewer that does not begin with a hello, repeats it or sends it too late is refused")
  func order() {
    var first = ViewerConversation()
    #expect(farewell(in: first.take(.ping(1)))?.cause == .malformedMessage)
    var twice = ViewerConversation()
    _ = twice.take(hello)
    #expect(farewell(in: twice.take(hello))?.cause == .malformedMessage)
    var late = ViewerConversation()
    #expect(late.expire().last == .close)
    #expect(late.take(hello) == [])
    var early = ViewerConversation()
    _ = early.take(hello)
    #expect(early.expire() == [])
  }

  @Test("Invalid input ends the conversation once, and the end of the process is reported")
  func ends() {
    var conversation = ViewerConversation()
    let actions = conversation.takeFault("it makes no sense")
    #expect(actions.first == .note("it makes no sense"))
    #expect(farewell(in: actions)?.reason == "it makes no sense")
    #expect(conversation.takeFault("again") == [])
    #expect(conversation.end(Listener.stopReason) == [])
    var other = ViewerConversation()
    _ = other.take(hello)
    #expect(farewell(in: other.end(Listener.stopReason))?.cause == .processEnds)
  }
}

@Suite struct UpdateOutboxTests {
  @Test("Each part costs one credit, and a second update is not begun before the first is sent")
  func credit() {
    var outbox = UpdateOutbox()
    #expect(!outbox.takesUpdate)
    outbox.grant(1)
    #expect(outbox.takesUpdate)
    outbox.begin(largeUpdate)
    #expect(!outbox.takesUpdate)
    #expect(outbox.next() != nil)
    #expect(outbox.next() == nil)
    #expect(!outbox.takesUpdate)
    var count = 1
    while !outbox.takesUpdate {
      outbox.grant(1)
      if outbox.next() == nil { break }
      count += 1
    }
    #expect(count == UpdateParts(largeUpdate).reduce(0) { count, _ in count + 1 })
    #expect(count > 2)
  }

  @Test("Credit has a maximum, and cannot be withdrawn")
  func limits() {
    var outbox = UpdateOutbox()
    for _ in 0..<1_000 { outbox.grant(WireLimits.mostCredit) }
    outbox.grant(-5)
    #expect(outbox.credit == WireLimits.mostCredit)
  }

  private var largeUpdate: Update {
    Update(
      time: MonitorTime(nanoseconds: 0),
      changed: (0..<20_000).map {
        OperationReport(
          id: .init($0), name: "operation \($0) with a name of some length", className: "Class",
          queue: .init(1), state: .waiting)
      })
  }
}
