// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of links that run real commands instead of ssh.
@Suite("A link", .timeLimit(.minutes(5)), .onOwnThread) struct RelayLinkTests {
  /// Waits for the result of the first connection of a link, and ends the link.
  private func result(
    of command: String
  ) throws -> Result<[RelayedTarget], AttachError> {
    let link = RelayLink(.command(command), arguments: [])
    defer { link.invalidate() }
    let results = Monitored<Result<[RelayedTarget], AttachError>?>(nil)
    link.whenGreeted { result in results.change { $0 = result } }
    link.connect()
    results.wait(for: "a result") { $0 != nil }
    return try #require(results.value)
  }

  private func error(of command: String) throws -> AttachError {
    switch try result(of: command) {
    case .success(let targets):
      Issue.record("\(targets)")
      return AttachError(.lost, "")
    case .failure(let error): return error
    }
  }

  @Test("A command that is not a relay is reported with its status or its text")
  func failures() throws {
    #expect(try error(of: "exit 127; :").status == 3)
    let old = try error(of: "echo 'opq-top: unknown command \"relay\"' >&2; exit 2; :")
    #expect(old.status == 4)
    let denied = try error(of: "echo 'a: Permission denied (publickey).' >&2; exit 255; :")
    #expect(denied.status == 1)
    #expect(denied.description.hasSuffix("ended: a: Permission denied (publickey)"))
    for command in [
      // The first command ends when its input ends. The second command is killed.
      "echo Welcome to web1; exec cat >/dev/null; :", "echo Welcome to web1; exec sleep 1000; :",
    ] {
      let text = try error(of: command)
      #expect(text.status == 1)
      #expect(
        text.description.contains("sent text before opq-top's first message: \"Welcome to web1\""))
    }
    #expect(
      try error(of: "exec yes; :").description.contains("first message: \"y\""))
    #expect(try error(of: "exit 3; :").description.hasSuffix("ended: exit status 3"))
    #expect(
      try error(of: "echo no such pod >&2; exit 1; :").description.hasSuffix("ended: no such pod"))
  }

  @Test("Bytes after the preamble that are not messages are reported")
  func flood() throws {
    let error = try error(of: "printf '\\000opq-relay\\000'; exec yes; :")
    #expect(error.status == 1)
    #expect(error.description.contains("violates the protocol"))
  }

  @Test("Messages without contents are reported")
  func emptyMessages() throws {
    let error = try error(of: "printf '\\000opq-relay\\000'; exec cat /dev/zero; :")
    #expect(error.status == 1)
    #expect(error.description.contains("violates the protocol"))
  }

  @Test("A link that is invalidated before its first connection reports an error")
  func invalidated() throws {
    let link = RelayLink(.command("exec sleep 1000; :"), arguments: [])
    link.connect()
    link.invalidate()
    link.invalidate()
    let results = Monitored<AttachError?>(nil)
    link.whenGreeted { result in
      if case .failure(let error) = result { results.change { $0 = error } }
    }
    #expect(results.wait(for: "a result") { $0 != nil })
  }

  @Test("The end of links waits for their commands, and kills those that do not end")
  func ends() throws {
    let directory = try TemporaryDirectory()
    mkfifo(directory.file("ids"), 0o600)
    let ids = open(directory.file("ids"), O_RDWR | O_CLOEXEC)
    defer { close(ids) }
    // The second command has sent a greeting, and does not notice the end of its input.
    let greeting = RelayAnswer.greeting([], versions: .current).encoded()
    let frame = RelayPreamble.bytes + LocalListener.frame(greeting)
    let octal = frame.map { "\\0" + String($0, radix: 8) }.joined()
    let note = "echo $$ >\(directory.file("ids"));"
    let links = ["", "printf %b '\(octal)';"].map { text in
      RelayLink(.command("\(note) \(text) exec sleep 1000; :"), arguments: [])
    }
    var processes: [Int32] = []
    for link in links {
      link.connect()
      var bytes = [UInt8](repeating: 0, count: 32)
      let count = read(ids, &bytes, bytes.count)
      let id = String(decoding: bytes.prefix(max(0, count)).dropLast(), as: UTF8.self)
      processes.append(try #require(Int32(id)))
    }
    let results = Monitored(0)
    links[1].whenGreeted { result in
      if case .success = result { results.change { $0 += 1 } }
    }
    #expect(results.wait(for: "the greeting") { $0 == 1 })
    // A call waits at most 1 s, which can be too short on a busy machine. A later call waits again.
    for _ in 1...30 where processes.contains(where: { kill($0, 0) == 0 }) { RelayLink.end(links) }
    for process in processes { #expect(kill(process, 0) != 0) }
  }

  /// Creates a session that adds its messages to a log.
  private func session(_ link: RelayLink, _ number: Int) -> (
    RemoteSession, EventLog<MonitorMessage>
  ) {
    let log = EventLog<MonitorMessage>()
    let wakes = Monitored(0)
    let session = RemoteSession(.relayed(link, number: number), isReadOnly: false) {
      wakes.change { $0 += 1 }
    }
    startThread { [weak session] in
      var seen = 0
      while wakes.comesTrue(within: 60, { $0 > seen }), let session {
        seen = wakes.value
        for message in session.takeMessages() { log.note(message) }
      }
    }
    return (session, log)
  }

  private func isUpdate(_ message: MonitorMessage) -> Bool { message.isUpdate }

  @Test("Two processes are watched over one command, and their greetings name the place")
  func twoProcesses() throws {
    let stand = try StandInRelay()
    let processes = [try ScriptedProcess(), try ScriptedProcess()]
    let targets = processes.map { RelayTarget(path: $0.path) }
    stand.serve { targets }
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    let sessions = [session(link, 1), session(link, 2)]
    defer { for (session, _) in sessions { session.invalidate() } }
    var viewers: [ScriptedProcess.Viewer] = []
    for (index, process) in processes.enumerated() {
      viewers.append(try process.welcome(ScriptedProcess.hello(startTicks: UInt64(index + 1))))
    }
    for (index, (_, log)) in sessions.enumerated() {
      var hello = ScriptedProcess.hello(startTicks: UInt64(index + 1))
      hello.host = stand.place.name
      #expect(log.wait(for: .hello(hello)))
      #expect(log.wait(for: "an update") { $0.contains(where: isUpdate) })
    }
    // The end of one process does not affect the other one.
    viewers[0].send(.bye(Farewell(cause: .processEnds, reason: "done")))
    #expect(sessions[0].1.wait(for: .ended(reason: "done")))
    #expect(sessions[0].0.loss == nil)
    let count = sessions[1].1.events.count(where: isUpdate)
    viewers[1].send(ScriptedProcess.update)
    #expect(sessions[1].1.wait(for: "another update") { $0.count(where: isUpdate) > count })
  }

  @Test("A session whose link is invalidated ends, and does not try again")
  func invalidatedSession() throws {
    let (stand, process) = (try StandInRelay(), try ScriptedProcess())
    let path = process.path
    stand.serve { [RelayTarget(path: path)] }
    let link = RelayLink(stand.place, arguments: [])
    let (session, log) = session(link, 1)
    defer { session.invalidate() }
    let viewer = try process.welcome()
    #expect(log.wait(for: "an update") { $0.contains(where: isUpdate) })
    link.invalidate()
    #expect(log.wait(for: .ended(reason: "the viewer has closed the connection")))
    viewer.close()
  }

  @Test("If a process behind a relay has crashed, its session ends")
  func crash() throws {
    let (stand, process, directory) = (
      try StandInRelay(), try ScriptedProcess(), try TemporaryDirectory()
    )
    let path = directory.file("2000000000-1.sock")
    symlink(process.path, path)
    stand.serve { [RelayTarget(path: path)] }
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    let (session, log) = session(link, 1)
    defer { session.invalidate() }
    let viewer = try process.welcome()
    #expect(log.wait(for: "an update") { $0.contains(where: isUpdate) })
    viewer.close()
    #expect(
      log.wait(for: "the end") { events in
        events.contains { if case .ended = $0 { true } else { false } }
      })
  }

  @Test("A relay that does not answer is lost within 10 s, and the session reconnects")
  func silence() throws {
    let (stand, process) = (try StandInRelay(), try ScriptedProcess())
    let path = process.path
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    let (session, log) = session(link, 1)
    defer { session.invalidate() }
    let (input, output) = try greet(log, by: stand, path)
    defer { close(input) }
    let start = ContinuousClock.now
    stand.serve(start: 2) { [RelayTarget(path: path)] }
    #expect(log.wait(for: "the loss") { $0.contains(where: isDisconnected) })
    // The relay is lost 8 s after its last bytes. A busy machine can take longer.
    #expect(ContinuousClock.now - start > .seconds(6))
    close(output)
    let viewer = try process.welcome()
    #expect(log.wait(for: "an update") { $0.contains(where: isUpdate) })
    viewer.close()
  }

  /// Acts as the first relay. Sends the greeting of a process, and then nothing.
  ///
  /// - Returns: The relay's ends of the pipes.
  private func greet(
    _ log: EventLog<MonitorMessage>, by stand: StandInRelay, _ path: String
  ) throws -> (input: Int32, output: Int32) {
    let (input, output) = stand.connect(1)
    let hello = ProcessMessage.hello(ScriptedProcess.hello(), versions: .current)
    let answers: [RelayAnswer] = [
      .greeting([RelayTarget(path: path)], versions: .current),
      .message(RelayedMessage(connection: 1, bytes: hello.encoded())),
    ]
    _ = RelayPreamble.bytes.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
    // The greeting must follow that of the viewer, and the message must follow the opening of its connection.
    for answer in answers {
      var bytes = [UInt8](repeating: 0, count: 1 << 12)
      #expect(read(input, &bytes, bytes.count) > 0)
      let frame = LocalListener.frame(answer.encoded())
      _ = frame.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
    }
    let isGreeted = log.wait(for: "the greeting") { events in
      events.contains { if case .hello = $0 { true } else { false } }
    }
    #expect(isGreeted)
    return (input, output)
  }

  private func isDisconnected(_ message: MonitorMessage) -> Bool {
    if case .disconnected = message { true } else { false }
  }

  @Test("If access is denied at a reconnection, the session ends, and keeps the error")
  func deniedReconnection() throws {
    let (stand, path) = (try StandInRelay(), "/none/of/these.sock")
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    let (session, log) = session(link, 1)
    defer { session.invalidate() }
    let (input, output) = try greet(log, by: stand, path)
    #expect(session.loss == nil)
    close(output)
    close(input)
    #expect(log.wait(for: "the loss of the connection") { $0.contains(where: isDisconnected) })
    let refusal = RelayRefusal(.denied, "access is denied", hasProcessEnded: false)
    stand.serve(start: 2) { [RelayTarget(processID: 0, path: path, refusal: refusal)] }
    #expect(log.wait(for: .ended(reason: "access is denied")))
    #expect(session.loss as? AttachError == AttachError(.denied, "access is denied"))
  }

  @Test("The processes of a relay are found with their greetings, in the order of their ids")
  func finder() throws {
    let (stand, process) = (try StandInRelay(), try ScriptedProcess())
    let path = process.path
    let refusal = RelayRefusal(.denied, "process 7 belongs to another user", hasProcessEnded: false)
    stand.serve {
      [
        RelayTarget(processID: 9, path: "/none/of/these.sock"),
        RelayTarget(processID: 7, path: "", refusal: refusal),
        RelayTarget(processID: 5, path: path),
      ]
    }
    startThread {
      guard let viewer = try? process.accept() else { return }
      viewer.send(.hello(ScriptedProcess.hello(), versions: .current))
      // The connection is kept until the viewer closes it.
      _ = viewer.receive { _ in false }
    }
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    link.connect()
    let found = try ProcessFinder.find(through: link)
    #expect(found.map(\.processID) == [5, 7])
    #expect(found.map(\.address) == [.relayed(link, number: 3), .relayed(link, number: 2)])
    #expect(try found.first?.answer.get().hello.host == stand.place.name)
    #expect(
      found.last?.answer == .failure(AttachError(.denied, "process 7 belongs to another user")))
  }
  @Test("If a link was lost, a search reports it, and does not start the command again")
  func finderOfLostLink() throws {
    let stand = try StandInRelay()
    let link = RelayLink(stand.place, arguments: [])
    defer { link.invalidate() }
    // The test itself acts as the relay, and ends after its greeting.
    startThread {
      let (input, output) = stand.connect(1)
      let greeting = RelayAnswer.greeting([RelayTarget(path: "/a.sock")], versions: .current)
      _ = RelayPreamble.bytes.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      // The greeting must follow that of the viewer.
      var bytes = [UInt8](repeating: 0, count: 1 << 12)
      _ = read(input, &bytes, bytes.count)
      let frame = LocalListener.frame(greeting.encoded())
      _ = frame.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      close(input)
      close(output)
    }
    link.connect()
    // The link detects the end of the relay during one of the searches.
    var errors: [AttachError] = []
    for _ in 1...100 where errors.count < 3 {
      do throws(AttachError) { _ = try ProcessFinder.find(through: link) } catch {
        errors.append(error)
      }
    }
    #expect(errors == [AttachError](repeating: RelayFailure.loss(of: stand.place), count: 3))
    #expect(stand.startCount == 1)
  }
}
