// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOCore
import TestSupport
import Testing

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the command of a link, without a link.
@Suite("The command of a link", .timeLimit(.minutes(5)), .onOwnThread) struct LinkCommandTests {
  /// A weak reference to a command. It is used only on the event loop.
  private final class Weak {
    weak var command: LinkCommand?
  }

  /// The events of a command, without their values.
  private enum Event: Equatable {
    case stalled
    case ended
  }

  /// Starts a command with a text for the shell, and adds its events to a log.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - log: The log.
  ///   - use: A closure that is called with the command on the event loop.
  /// - Returns: The command.
  /// - Throws: The error of the start.
  private func start(
    _ text: String, _ log: EventLog<Event>,
    use: @escaping @Sendable (LinkCommand) -> Void = { _ in }
  ) throws -> NIOLoopBound<Weak> {
    let loop = ConnectionLoop.shared
    return try loop.submit {
      let command = try LinkCommand(["/bin/sh", "-c", text], on: loop) { event in
        switch event {
        case .stalled: log.note(.stalled)
        case .ended: log.note(.ended)
        case .preamble, .text, .message, .heard, .fault: break
        }
      }
      use(command)
      let weak = Weak()
      weak.command = command
      return NIOLoopBound(weak, eventLoop: loop)
    }.wait()
  }

  /// Whether a command is released soon.
  private func isReleased(_ weak: NIOLoopBound<Weak>) throws -> Bool {
    let ticks = Monitored(0)
    for _ in 1...60 {
      if try ConnectionLoop.shared.submit({ weak.value.command == nil }).wait() { return true }
      // The predicate never returns `true`, so this call waits for 1 s.
      _ = ticks.comesTrue(within: 1) { $0 > 0 }
    }
    return false
  }

  @Test(
    "A command that has ended is released",
    arguments: ["exit 3", "echo Welcome; exit 0", "printf '\\000opq-relay\\000'; echo end >&2"])
  func release(_ text: String) throws {
    let log = EventLog<Event>()
    let weak = try start(text, log)
    #expect(log.wait(for: .ended))
    #expect(try isReleased(weak))
  }

  @Test("An abandoned command that ignores the end of its input is killed and released")
  func abandonment() throws {
    let log = EventLog<Event>()
    let exits = Monitored(0)
    let weak = try start("exec sleep 1000", log) { command in
      command.whenExited = { exits.change { $0 += 1 } }
      command.abandon(kills: false)
    }
    #expect(exits.wait(for: "the end") { $0 == 1 })
    #expect(try isReleased(weak))
    #expect(log.events.isEmpty)
  }

  @Test("If more than 1 MiB waits for a command that does not read, this is reported once")
  func stall() throws {
    let log = EventLog<Event>()
    let weak = try start("exec sleep 1000", log)
    let message = [UInt8](repeating: 1, count: 256 << 10)
    for _ in 1...600 where log.events.isEmpty {
      try ConnectionLoop.shared.submit {
        weak.value.command?.send(message)
        weak.value.command?.flush()
      }.wait()
    }
    #expect(log.wait(for: .stalled))
    try ConnectionLoop.shared.submit {
      weak.value.command?.send(message)
      weak.value.command?.abandon(kills: true)
    }.wait()
    #expect(try isReleased(weak))
    #expect(log.events == [.stalled])
  }

  @Test("A command inherits no file except its standard streams")
  func inheritedFiles() throws {
    var files: [Int32] = [0, 0]
    try #require(pipe(&files) == 0)
    defer { for file in files { close(file) } }
    let link = RelayLink(
      .command("test -e /proc/self/fd/\(files[0]) && echo inherited >&2; exit 3; :"), arguments: [])
    let results = Monitored<[String]>([])
    link.whenGreeted { result in
      if case .failure(let error) = result { results.change { $0.append(error.description) } }
    }
    link.connect()
    #expect(results.wait(for: "a result") { $0.count == 1 })
    #expect(results.value.first?.hasSuffix("ended: exit status 3") == true, "\(results.value)")
    RelayLink.end([link])
  }

  @Test("A file that cannot become a channel is closed")
  func refusedFile() throws {
    let directory = try TemporaryDirectory()
    // A channel can use a pipe, but no file on a disk.
    let file = open(directory.file("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    let loop = ConnectionLoop.shared
    let channel = loop.flatSubmit { CommandPipe.open(input: file, on: loop) { _ in } }
    #expect(throws: (any Error).self) { try channel.wait() }
    try loop.submit {}.wait()
    // Another thread may have opened another file, and the system may have reused the descriptor.
    var facts = stat()
    var own = stat()
    #expect(stat(directory.file("file"), &own) == 0)
    #expect(fstat(file, &facts) != 0 || facts.st_ino != own.st_ino)
  }
}
