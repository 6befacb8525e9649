// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite struct ReconnectionTests {
  private static func hello(_ processID: Int32 = 7, startTicks: UInt64 = 5) -> Hello {
    var hello = Hello(
      processName: "service", processID: processID, isReadOnly: false,
      anchor: MonitorTime(nanoseconds: 1), anchorSecondsSince1970: 0,
      processStarted: MonitorTime(nanoseconds: 0))
    hello.startTicks = startTicks
    return hello
  }

  private let reset = AttachError(.lost, "reset")

  private func open(versions: ProtocolVersions = .current) -> Reconnection {
    var reconnection = Reconnection()
    _ = reconnection.greet(Self.hello(), versions: versions)
    return reconnection
  }

  @Test("The first attempt to connect succeeds or fails, and is not repeated")
  func first() {
    var refused = Reconnection()
    #expect(refused.lose(reset, hasEnded: false) == [.refuse(reset)])
    #expect(refused.lose(reset, hasEnded: false) == [])
    var greeted = Reconnection()
    #expect(!greeted.isOpen)
    #expect(greeted.greet(Self.hello()) == [.post(.hello(Self.hello())), .open])
    #expect(greeted.isOpen)
  }

  @Test("A lost connection is reported once, and is open again when the same process greets")
  func again() {
    var reconnection = open()
    #expect(
      reconnection.lose(reset, hasEnded: false)
        == [.post(.disconnected(reason: "reset")), .retry(after: .milliseconds(100))])
    #expect(!reconnection.isOpen)
    #expect(reconnection.wakeUp(hasEnded: false) == [])
    let nothing = AttachError(.nothingThere, "nothing listens")
    #expect(reconnection.lose(nothing, hasEnded: false) == [.retry(after: .milliseconds(200))])
    #expect(reconnection.greet(Self.hello()) == [.post(.hello(Self.hello())), .open])
    #expect(reconnection.isOpen)
  }

  @Test("Attempts become rarer, up to one in five seconds, until an update arrives")
  func delays() {
    var reconnection = open()
    func delay() -> Duration? {
      for case .retry(let delay) in reconnection.lose(reset, hasEnded: false) { return delay }
      return nil
    }
    let delays = (0..<12).compactMap { _ in delay() }
    #expect(delays.count == 12)
    #expect(delays.first == .milliseconds(100))
    #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(delays.last == Reconnection.longestDelay)
    // The delay before an attempt to reconnect becomes short again only after an update, because a
    // greeting alone does not prove that the connection works.
    _ = reconnection.greet(Self.hello())
    #expect(delay() == Reconnection.longestDelay)
    _ = reconnection.greet(Self.hello())
    reconnection.noteUpdate(at: MonitorTime(nanoseconds: 0))
    #expect(delay() == .milliseconds(100))
    #expect(delay() == .milliseconds(200))
  }

  @Test("A process that has no room at the moment is tried again, and that is reported once")
  func crowded() {
    var reconnection = open()
    let full = AttachError(
      Farewell(cause: .tooManyViewers, reason: "8 viewers watch the process already"))
    #expect(full.status == 5)
    _ = reconnection.lose(reset, hasEnded: false)
    #expect(
      reconnection.lose(full, hasEnded: false) == [
        .post(.disconnected(reason: "8 viewers watch the process already")),
        .retry(after: .milliseconds(200)),
      ])
    #expect(reconnection.lose(full, hasEnded: false) == [.retry(after: .milliseconds(400))])
    #expect(reconnection.greet(Self.hello()) == [.post(.hello(Self.hello())), .open])
  }

  @Test(
    "If another attempt would have the same result, there is none, and the process is lost",
    arguments: [
      AttachError(.denied, "it is another user's"),
      AttachError(otherVersion: ProtocolVersions(major: 9, minor: 0)),
    ])
  func final(error: AttachError) {
    var reconnection = open()
    _ = reconnection.lose(reset, hasEnded: false)
    #expect(
      reconnection.lose(error, hasEnded: false)
        == [.lose(error), .stop])
    #expect(reconnection.lose(reset, hasEnded: false) == [])
  }

  @Test("A process that has ended is not waited for, whenever its end is noticed")
  func ended() {
    let end: [Reconnection.Action] = [.post(.ended(reason: "the process has exited")), .stop]
    let versions = ProtocolVersions(major: 1, minor: 1)
    var atOnce = open(versions: versions)
    #expect(atOnce.lose(reset, hasEnded: true) == end)
    var later = open(versions: versions)
    _ = later.lose(reset, hasEnded: false)
    #expect(later.wakeUp(hasEnded: true) == end)
    var said = open()
    #expect(said.end() == [.stop])
    #expect(!said.isOpen)
    #expect(said.lose(reset, hasEnded: false) == [])
  }

  @Test("A process without a farewell has crashed, and the age of its last update is shown")
  func crashed() {
    func end(_ reason: String) -> [Reconnection.Action] { [.post(.ended(reason: reason)), .stop] }
    var unwatched = open()
    #expect(
      unwatched.lose(reset, hasEnded: true) == end("the process crashed or was killed"))
    var later = open()
    later.noteUpdate(at: MonitorTime(nanoseconds: 1_000_000_000))
    _ = later.lose(reset, hasEnded: false, at: MonitorTime(nanoseconds: 1_400_000_000))
    // The end of the process is noticed later than the loss of the connection.
    _ = later.lose(reset, hasEnded: false, at: MonitorTime(nanoseconds: 1_500_000_000))
    #expect(
      later.wakeUp(hasEnded: true)
        == end("the process crashed or was killed, 400ms after its last update"))
  }

  @Test("Another process at the same socket is not the watched one")
  func another() {
    let end: [Reconnection.Action] = [
      .post(.ended(reason: "the process was replaced by another one")), .stop,
    ]
    for hello in [Self.hello(8), Self.hello(startTicks: 6)] {
      var reconnection = open()
      _ = reconnection.lose(reset, hasEnded: false)
      #expect(reconnection.greet(hello) == end)
      #expect(!reconnection.isOpen)
    }
  }
}

extension Reconnection {
  /// Handles a lost connection at a time that does not matter.
  fileprivate mutating func lose(_ error: AttachError, hasEnded: Bool) -> [Action] {
    lose(error, hasEnded: hasEnded, at: MonitorTime(nanoseconds: 0))
  }
}
