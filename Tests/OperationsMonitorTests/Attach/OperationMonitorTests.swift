// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol
import Operations
import TestSupport
import Testing

@testable import OperationsMonitor

/// What a program calls. There is one monitor of a process: each test has a process of its own.
@Suite struct OperationMonitorTests {
  @Test(
    "Listening and stopping in any order on any threads ends listening or not, as was said last")
  func anyThreads() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let seed = SeededGenerator.announcedSeed()
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        for _ in 0..<Effort.scaled(300) {
          switch Int.random(in: 0..<5, using: &random) {
          case 0: OperationMonitor.stopListening()
          case 1: if let path = OperationMonitor.socketPath { _ = WireClient(path: path)?.greet() }
          default:
            let mode = OperationMonitor.Mode.allCases.randomElement(using: &random) ?? .readOnly
            _ = #expect(throws: Never.self) { try OperationMonitor.listen(mode: mode) }
          }
        }
      }
      // The one listener that there may be is the one at the path.
      let path = try OperationMonitor.listen(mode: .readWrite)
      #expect(OperationMonitor.socketPath == path)
      #expect(runtime.sockets == [path])
      #expect(WireClient(path: path)?.greet().isGreeting == true)
      OperationMonitor.stopListening()
      #expect(OperationMonitor.socketPath == nil)
      #expect(runtime.sockets == [])
      #expect(WireClient(path: path) == nil)
    }
  }

  @Test("Who listens again after a stop is found at the path, whatever the stop still had to do")
  func listensAgain() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      for _ in 0..<Effort.scaled(200) {
        let path = try OperationMonitor.listen()
        let client = try #require(WireClient(path: path))
        #expect(client.greet().isGreeting)
        let hasStopped = Monitored(false)
        startThread {
          OperationMonitor.stopListening()
          hasStopped.change { $0 = true }
        }
        // As soon as the old one is taken out, which may be before its viewers know.
        while OperationMonitor.socketPath != nil { sched_yield() }
        let next = try OperationMonitor.listen()
        hasStopped.wait(for: "the old listener to have stopped") { $0 }
        #expect(runtime.sockets == [next])
        #expect(WireClient(path: next)?.greet().isGreeting == true)
        #expect(client.receive().farewell?.cause == .processEnds)
        OperationMonitor.stopListening()
      }
    }
  }

  @Test("The handler of the log may stop the listening, and begin it anew")
  func stopsFromTheLog() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let again = Monitored<String?>(nil)
      let log = LogLines { line in
        guard line.contains("suspend queue") else { return }
        OperationMonitor.stopListening()
        let path = try? OperationMonitor.listen()
        again.change { $0 = path }
      }
      let path = try OperationMonitor.listen(mode: .readWrite, logger: log.logger)
      let client = try #require(WireClient(path: path))
      #expect(client.greet().isGreeting)
      client.send(.command(.setSuspended(.init(.max), true), token: 1))
      again.wait(for: "the handler to return") { $0 != nil }
      let farewell = client.receive { WireClient.Answer.message($0).farewell }
      #expect(farewell?.cause == .processEnds)
      #expect(runtime.sockets == [path])
      #expect(WireClient(path: path)?.greet().isGreeting == true)
    }
  }

  @Test("A process that ends while it listens leaves no file, wherever it ends")
  func leavesNoFile() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .exitCode(7)) { [path = directory.path as String] in
      setenv("XDG_RUNTIME_DIR", path, 1)
      try OperationMonitor.listen()
      exit(7)
    }
    #expect(MonitorDirectory(path: directory.file("opq")).fileNames == [])
    await #expect(processExitsWith: .exitCode(8)) { [path = directory.path as String] in
      setenv("XDG_RUNTIME_DIR", path, 1)
      let log = LogLines { if $0.contains("suspend queue") { exit(8) } }
      let socket = try OperationMonitor.listen(mode: .readWrite, logger: log.logger)
      let client = try #require(WireClient(path: socket))
      #expect(client.greet().isGreeting)
      client.send(.command(.setSuspended(.init(.max), true), token: 1))
      while true { pause() }
    }
    #expect(MonitorDirectory(path: directory.file("opq")).fileNames == [])
  }
}

/// A directory that takes the place of the user's, for this process.
private struct RuntimeDirectory {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    setenv("XDG_RUNTIME_DIR", directory.path, 1)
  }

  /// The sockets in it.
  var sockets: [String] {
    let sockets = MonitorDirectory(path: directory.file("opq"))
    return sockets.fileNames.map { sockets.path(of: $0) }
  }
}
