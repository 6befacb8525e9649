// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The conversation of a link") struct LinkConversationTests {
  private let place = RemotePlace.command("far")
  private let targets = [
    RelayTarget(processID: 1, path: "/a"), RelayTarget(processID: 2, path: "/b"),
    RelayTarget(
      processID: 3, path: "",
      refusal: RelayRefusal(.nothingThere, "there is no process 3", hasProcessEnded: true)),
  ]

  private func moment(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  private func greeting(_ targets: [RelayTarget]? = nil) -> RelayAnswer {
    .greeting(targets ?? self.targets, versions: .current)
  }

  private var numbered: [RelayedTarget] {
    zip(targets, 1...).map { RelayedTarget($0, number: $1) }
  }

  /// Returns a link that is connected to its relay, with a connection to the first target.
  private func open() -> (LinkConversation, UInt32) {
    var link = LinkConversation(place, arguments: ["1", "2", "3"])
    let connection = link.makeConnection(to: 1)
    _ = link.open(connection, at: moment(0))
    _ = link.takePreamble(at: moment(0))
    _ = link.take(greeting())
    return (link, connection)
  }

  @Test("The first connection starts the command; the greeting opens all connections")
  func start() {
    var link = LinkConversation(place, arguments: ["1", "2", "3"])
    let first = link.makeConnection(to: 2)
    #expect(link.open(first, at: moment(0)) == [.start(arguments: ["1", "2", "3"])])
    #expect(link.connect(at: moment(0)) == [])
    let second = link.makeConnection(to: 3)
    #expect(link.open(second, at: moment(0)) == [])
    #expect(link.send([1], on: first) == [])
    #expect(link.takePreamble(at: moment(1)) == [.send(.hello(.current))])
    let refusal = TransportEnd(
      AttachError(.nothingThere, "there is no process 3"), hasProcessEnded: false)
    #expect(
      link.take(greeting())
        == [
          .greet(numbered), .send(.open(connection: first, target: 2)), .begin(connection: first),
          .end(connection: second, refusal),
        ])
    let message = RelayedMessage(connection: first, bytes: [1])
    #expect(link.send([1], on: first) == [.send(.message(message))])
    #expect(link.take(.message(message)) == [.deliver(message)])
  }

  @Test("After a loss, the relay is started for the known sockets, whose numbers stay the same")
  func restart() {
    var (link, connection) = open()
    let loss = AttachError(.lost, "the connection to \"far\" was lost")
    #expect(
      link.end(AttachError(.lost, "exit status 1"))
        == [.end(connection: connection, TransportEnd(loss))])
    #expect(link.send([1], on: connection) == [])
    let again = link.makeConnection(to: 2)
    #expect(again > connection)
    #expect(link.open(again, at: moment(1)) == [.start(arguments: ["--", "/a", "/b"])])
    _ = link.takePreamble(at: moment(1))
    // The relay could name its targets in another order.
    #expect(
      link.take(greeting([targets[1], targets[0]]))
        == [.send(.open(connection: again, target: 1)), .begin(connection: again)])
    let absent = link.makeConnection(to: 1)
    _ = link.end(loss)
    _ = link.open(absent, at: moment(2))
    _ = link.takePreamble(at: moment(2))
    let last = link.makeConnection(to: 1)
    _ = link.open(last, at: moment(2))
    guard case .end(_, let end) = link.take(greeting([targets[1]])).last else {
      Issue.record("no end")
      return
    }
    #expect(end.hasProcessEnded && end.error.kind == .nothingThere)
  }

  @Test("A failed first connection is reported once, to the link and to each connection")
  func firstFailure() {
    var link = LinkConversation(place, arguments: [])
    let connection = link.makeConnection(to: 1)
    _ = link.open(connection, at: moment(0))
    let error = AttachError(.nothingThere, "not found")
    #expect(
      link.end(error) == [.refuse(error), .end(connection: connection, TransportEnd(error))])
    #expect(link.end(error) == [])
    #expect(link.connect(at: moment(1)) == [.start(arguments: [])])
    #expect(link.end(error) == [])
  }

  @Test("Text instead of the preamble ends the command, and its end is reported")
  func text() {
    var link = LinkConversation(place, arguments: [])
    _ = link.connect(at: moment(0))
    #expect(link.takeText() == [.finish])
    #expect(link.takePreamble(at: moment(0)) == [])
    #expect(link.nextLook == nil)
    let error = AttachError(.lost, "text")
    #expect(link.end(error) == [.refuse(error)])
  }

  @Test("The end of a connection is passed on, and messages that cross a close are ignored")
  func ends() {
    var (link, connection) = open()
    let refusal = RelayRefusal(.lost, "the process has closed", hasProcessEnded: true)
    #expect(
      link.take(.end(connection: connection, refusal))
        == [.end(connection: connection, TransportEnd(refusal))])
    #expect(link.close(connection) == [])
    let next = link.makeConnection(to: 1)
    _ = link.open(next, at: moment(1))
    #expect(link.close(next) == [.send(.close(connection: next))])
    let late = RelayAnswer.message(RelayedMessage(connection: next, bytes: []))
    #expect(link.take(late) == [])
    #expect(link.take(.end(connection: next, refusal)) == [])
    // The relay has sent this pong before it received the next close.
    #expect(link.look(at: moment(1)) == [.send(.ping(1))])
    let last = link.makeConnection(to: 1)
    _ = link.open(last, at: moment(1))
    _ = link.close(last)
    #expect(link.take(.pong(1)) == [])
    #expect(link.take(.message(RelayedMessage(connection: last, bytes: []))) == [])
  }

  @Test("A message or an end for a connection that is not open ends the command")
  func unopenedConnections() {
    let refusal = RelayRefusal(.lost, "", hasProcessEnded: false)
    func answers(_ connection: UInt32) -> [RelayAnswer] {
      [
        .message(RelayedMessage(connection: connection, bytes: [])),
        .end(connection: connection, refusal),
      ]
    }
    /// Checks that a link accepts neither a message nor an end for a connection.
    func expectFault(_ link: LinkConversation, _ connection: UInt32) {
      for answer in answers(connection) {
        var link = link
        let actions = link.take(answer)
        #expect(actions.first == .abandon(kills: true), "\(answer)")
        #expect(link.nextLook == nil)
      }
    }
    let (link, connection) = open()
    expectFault(link, connection + 1)
    var ended = link
    _ = ended.take(.end(connection: connection, refusal))
    expectFault(ended, connection)
    // The relay was not asked to open a connection to a target with a refusal.
    var refused = link
    let unopened = refused.makeConnection(to: 3)
    _ = refused.open(unopened, at: moment(0))
    expectFault(refused, unopened)
    var closed = link
    _ = closed.close(connection)
    expectFault(closed, connection + 1)
    #expect(closed.look(at: moment(1)) == [.send(.ping(1))])
    for answer in answers(connection) { #expect(closed.take(answer) == []) }
    var flooded = closed
    for _ in 2..<LinkConversation.mostLateMessages { _ = flooded.take(answers(connection)[0]) }
    expectFault(flooded, connection)
    // The relay has received the ping, and therefore also the close before it.
    #expect(closed.take(.pong(1)) == [])
    expectFault(closed, connection)
  }

  @Test("A pong that answers no ping, or a ping that was answered, ends the command")
  func unrequestedPongs() {
    var (link, connection) = open()
    let fault = RelayFailure.violation("its pong 1 answers no ping", at: place)
    var early = link
    #expect(
      early.take(.pong(1))
        == [.abandon(kills: true), .end(connection: connection, TransportEnd(fault))])
    // The relay skips a ping if the viewer does not read.
    for (second, number) in zip([1.0, 20, 40], UInt64(1)...) {
      #expect(link.look(at: moment(second)) == [.send(.ping(number))])
      link.hear(at: moment(second))
    }
    #expect(link.take(.pong(2)) == [])
    for number: UInt64 in [0, 1, 2, 4, .max] {
      var other = link
      #expect(other.take(.pong(number)).first == .abandon(kills: true))
    }
    #expect(link.take(.pong(3)) == [])
    // Another relay does not answer the pings of an earlier one.
    #expect(link.look(at: moment(60)) == [.send(.ping(4))])
    _ = link.end(AttachError(.lost, ""))
    _ = link.connect(at: moment(61))
    _ = link.takePreamble(at: moment(61))
    #expect(link.take(.pong(4)).first == .abandon(kills: true))
  }

  @Test("A silent relay gets a ping and is lost within 10 s; a silent command gets no ping")
  func silence() {
    var (link, connection) = open()
    var actions: [LinkConversation.Action] = []
    var lossTime: MonitorTime?
    while let look = link.nextLook, look < moment(20) {
      actions += link.look(at: look)
      lossTime = look
    }
    #expect(actions.first == .send(.ping(1)))
    let loss = AttachError(.lost, "the connection to \"far\" was lost")
    #expect(
      actions.dropFirst()
        == [.abandon(kills: true), .end(connection: connection, TransportEnd(loss))])
    #expect(lossTime.map { $0 <= moment(9) } == true)

    var silent = LinkConversation(place, arguments: [])
    _ = silent.connect(at: moment(0))
    actions = []
    while let look = silent.nextLook, look < moment(20) { actions += silent.look(at: look) }
    let error = AttachError(.lost, "\"far\" does not answer")
    #expect(actions == [.abandon(kills: true), .refuse(error)])
  }

  @Test("Text does not extend the time before the preamble, and is reported if its line has no end")
  func endlessText() {
    var link = LinkConversation(place, arguments: [])
    _ = link.connect(at: moment(0))
    var time = moment(0)
    var actions: [LinkConversation.Action] = []
    while actions.isEmpty, time < moment(60) {
      time = time + .milliseconds(100)
      link.hear(at: time)
      if let look = link.nextLook, look <= time { actions = link.look(at: time, text: "Password:") }
    }
    #expect(time > moment(9) && time <= moment(12))
    let error = RelayFailure.noAnswer(from: place, text: "Password:")
    #expect(error.description.contains("sent text before opq-top's first message: \"Password:\""))
    #expect(actions == [.abandon(kills: true), .refuse(error)])
  }

  /// Answers each ping of a relay that sends no greeting, until the link is lost or the limit has passed.
  ///
  /// - Returns: The last actions of the link, and the duration since the preamble.
  private func awaitGreeting(
    _ link: inout LinkConversation, from start: MonitorTime, limit: Duration
  ) -> (actions: [LinkConversation.Action], duration: Duration) {
    _ = link.takePreamble(at: start)
    var (actions, time): ([LinkConversation.Action], MonitorTime) = ([], start)
    while let look = link.nextLook, look - start < limit {
      time = look
      actions = link.look(at: time)
      for case .send(.ping(let number)) in actions { #expect(link.take(.pong(number)) == []) }
      link.hear(at: time)
    }
    return (actions, time - start)
  }

  @Test("A relay that answers pings and sends no greeting is lost after 10 s")
  func missingGreeting() {
    var link = LinkConversation(place, arguments: ["1"])
    _ = link.connect(at: moment(0))
    let (actions, duration) = awaitGreeting(&link, from: moment(5), limit: .seconds(60))
    let error = AttachError(.lost, "\"far\" does not answer")
    #expect(actions == [.abandon(kills: true), .refuse(error)])
    #expect(duration == .seconds(10))
  }

  @Test("A relay that awaits a process can send its greeting at any time, but only the first time")
  func awaitedProcess() {
    var link = LinkConversation(place, arguments: ["--wait=1"])
    _ = link.connect(at: moment(0))
    _ = awaitGreeting(&link, from: moment(0), limit: .seconds(100))
    #expect(link.nextLook != nil)
    #expect(link.take(greeting([targets[0]])) == [.greet([RelayedTarget(targets[0], number: 1)])])
    // The next relay gets the socket of the process.
    _ = link.end(AttachError(.lost, ""))
    #expect(link.connect(at: moment(100)) == [.start(arguments: ["--", "/a"])])
    let (actions, duration) = awaitGreeting(&link, from: moment(100), limit: .seconds(60))
    #expect(actions == [.abandon(kills: true)])
    #expect(duration == .seconds(10))
  }

  @Test("A command that does not read its input is lost")
  func stall() {
    var (link, connection) = open()
    let loss = AttachError(.lost, "the connection to \"far\" was lost")
    #expect(
      link.takeStall() == [.abandon(kills: true), .end(connection: connection, TransportEnd(loss))])
    #expect(link.takeStall() == [])
  }

  @Test("A relay that has not answered the last ping gets time to forward the last messages")
  func lastMessages() {
    var (link, connection) = open()
    #expect(link.look(at: moment(1)) == [.send(.ping(1))])
    let message = RelayedMessage(connection: connection, bytes: [1])
    #expect(link.send([1], on: connection) == [.send(.message(message))])
    #expect(link.invalidate().first == .abandon(kills: false))
  }

  @Test("A relay that answers is not lost")
  func answers() {
    var (link, _) = open()
    for _ in 1...60 {
      guard let look = link.nextLook else { break }
      let isOnlyPing = link.look(at: look).allSatisfy { action in
        if case .send(.ping) = action { true } else { false }
      }
      #expect(isOnlyPing)
      link.hear(at: look + .milliseconds(10))
    }
    #expect(link.nextLook != nil)
  }

  @Test("A relay that sends only messages of an unknown kind is lost within 10 s")
  func unknownMessages() {
    var (link, _) = open()
    link.hear(at: moment(0))
    var time = moment(0)
    while link.nextLook != nil, time < moment(20) {
      time = time + .milliseconds(100)
      #expect(link.take(.unknown) == [])
      link.hear(at: time)
      if let look = link.nextLook, look <= time { _ = link.look(at: time) }
    }
    #expect(link.nextLook == nil)
    #expect(time <= moment(10))
  }

  @Test("A relay that sends without a pause gets pings so often that it does not end")
  func busyRelay() {
    var (link, _) = open()
    var pings: [MonitorTime] = []
    while let look = link.nextLook, look < moment(100) {
      link.hear(at: look)
      let actions = link.look(at: look)
      if !actions.isEmpty { pings.append(look) }
      #expect(actions == (actions.isEmpty ? [] : [.send(.ping(UInt64(pings.count)))]))
    }
    #expect(pings.count >= 6)
    for (earlier, later) in zip([moment(0)] + pings, pings) {
      #expect(later - earlier < Relay.patience / 3)
    }
  }

  @Test("A message at the wrong time or a refusal ends the command")
  func faults() {
    var early = LinkConversation(place, arguments: [])
    _ = early.connect(at: moment(0))
    _ = early.takePreamble(at: moment(0))
    #expect(early.look(at: moment(1)) == [.send(.ping(1))])
    #expect(early.take(.pong(1)) == [])
    let message = RelayedMessage(connection: 1, bytes: [])
    #expect(early.take(.message(message)).first == .abandon(kills: true))
    var (twice, _) = open()
    #expect(twice.take(greeting()).first == .abandon(kills: true))
    var other = LinkConversation(place, arguments: [])
    _ = other.connect(at: moment(0))
    _ = other.takePreamble(at: moment(0))
    let farewell = Farewell(
      cause: .versionMismatch, reason: "", versions: ProtocolVersions(major: 2, minor: 0))
    guard case .refuse(let error) = other.take(.bye(farewell)).last else {
      Issue.record("not refused")
      return
    }
    #expect(error.status == 4)
    #expect(
      error.description
        == """
        opq-top on "far" uses version 2.0 of the protocol, and this opq-top uses \(ProtocolVersions.current)
        """)
  }

  @Test("An invalidated link ends its command and its connections, and opens no further ones")
  func invalidation() {
    var (link, connection) = open()
    let closing = TransportEnd(AttachError(.lost, "the viewer is closing the connection"))
    #expect(
      link.invalidate()
        == [.abandon(kills: false), .end(connection: connection, closing)])
    #expect(link.invalidate() == [])
    #expect(link.connect(at: moment(1)) == [])
    let late = link.makeConnection(to: 1)
    let closed = AttachError(.closed, "the viewer has closed the connection")
    #expect(link.open(late, at: moment(1)) == [.end(connection: late, TransportEnd(closed))])
    #expect(closed.isFinal)
    var starting = LinkConversation(place, arguments: [])
    _ = starting.connect(at: moment(0))
    #expect(starting.invalidate() == [.abandon(kills: true), .refuse(closing.error)])
  }
}
