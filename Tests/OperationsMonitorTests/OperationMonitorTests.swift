// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Logging
import Operations
import TestSupport
import Testing

@testable import MonitorProtocol
@testable import MonitorTransport
@testable import OperationsMonitor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the functions of `OperationMonitor` that a program calls. A process has only one
/// monitor, so each test runs in a separate process.
@Suite struct OperationMonitorTests {
  @Test(
    "Concurrent calls of listen and stop leave the state that the last call requested")
  func anyThreadsInOwnProcess() async {
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
      // A call of `listen` after the concurrent calls returns the path of the only listener.
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

  @Test("A listener that starts after a stop is at the path, even if the stop has not completed")
  func listensAgainInOwnProcess() async {
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
        // The program can create a new listener as soon as the old one is removed, even if the
        // viewers of the old listener have not noticed the removal.
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

  @Test("Each of several concurrent calls of listen returns when viewers can connect")
  func listensAtOnceInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      defer { withExtendedLifetime(runtime) {} }
      for _ in 0..<Effort.scaled(200) {
        onThreads(4) { _ in
          let path = try? OperationMonitor.listen()
          #expect(path.flatMap { WireClient(path: $0) } != nil)
        }
        OperationMonitor.stopListening()
      }
    }
  }

  @Test("The handler of the log may stop the listening, and start it again")
  func stopsFromTheLogInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let again = Monitored<String?>(nil)
      let log = LogLines { line in
        guard line.hasPrefix("suspend ") else { return }
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
  func leavesNoFileInOwnProcess() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .exitCode(7)) { [path = directory.path as String] in
      setenv("XDG_RUNTIME_DIR", path, 1)
      try OperationMonitor.listen()
      exit(7)
    }
    #expect(MonitorDirectory(path: directory.file("opq")).fileNames == [])
    await #expect(processExitsWith: .exitCode(8)) { [path = directory.path as String] in
      setenv("XDG_RUNTIME_DIR", path, 1)
      let log = LogLines { if $0.hasPrefix("suspend ") { exit(8) } }
      let socket = try OperationMonitor.listen(mode: .readWrite, logger: log.logger)
      let client = try #require(WireClient(path: socket))
      #expect(client.greet().isGreeting)
      client.send(.command(.setSuspended(.init(.max), true), token: 1))
      while true { pause() }
    }
    #expect(MonitorDirectory(path: directory.file("opq")).fileNames == [])
  }

  @Test(
    "A second call to listen sets the mode for viewers that connect from then on, and nothing else")
  func changesTheModeInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      defer { withExtendedLifetime(runtime) {} }
      #expect(OperationMonitor.socketPath == nil)
      let path = try OperationMonitor.listen(mode: .readWrite)
      #expect(OperationMonitor.socketPath == path)
      let first = try #require(WireClient(path: path))
      #expect(first.greet().isReadOnly == false)
      #expect(try OperationMonitor.listen() == path)
      let second = try #require(WireClient(path: path))
      #expect(second.greet().isReadOnly == true)
      let queue = OperationQueue()
      for (client, outcome) in [(first, CommandResult.Outcome.requested), (second, .denied)] {
        client.send(.command(.setSuspended(.init(queue.id.rawValue), true), token: 5))
        #expect(client.result(of: 5)?.outcomes == [outcome])
      }
      #expect(queue.isSuspended)
      OperationMonitor.stopListening()
      OperationMonitor.stopListening()
      #expect(OperationMonitor.socketPath == nil)
    }
  }

  @Test("A variable that is neither ro nor rw is logged, and the program continues")
  func badVariableInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      let runtime = try RuntimeDirectory()
      setenv("OPQ_MONITOR", "yes", 1)
      let queue = OperationQueue()
      let hasRun = Monitored(false)
      queue.addOperation { hasRun.change { $0 = true } }
      hasRun.wait(for: "the operation to run") { $0 }
      #expect(OperationMonitor.socketPath == nil)
      #expect(runtime.sockets == [])
    }
    let said = [result?.standardErrorContent ?? [], result?.standardOutputContent ?? []].map {
      String(decoding: $0, as: UTF8.self)
    }.joined()
    #expect(said.contains("viewers cannot attach: OPQ_MONITOR is neither ro nor rw"))
  }

  @Test(
    "The variable makes the first queue listen, and logs go where the program configures it later")
  func variableInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      defer { withExtendedLifetime(runtime) {} }
      setenv("OPQ_MONITOR", "rw", 1)
      let queue = OperationQueue()
      queue.name = "io"
      let path = try #require(OperationMonitor.socketPath)
      let log = LogLines()
      LoggingSystem.bootstrap { _ in log }
      let client = try #require(WireClient(path: path))
      #expect(client.greet().isReadOnly == false)
      client.send(.command(.setWidth(.init(queue.id.rawValue), 3), token: 1))
      log.wait { $0.hasPrefix("set the width of io to 3 ") }
      #expect(queue.maxConcurrentOperationCount == 3)
    }
  }

  @Test("A forked child does not listen, reports it, and does not touch its parent's socket")
  func forkInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let path = try OperationMonitor.listen()
      #expect(WireClient(path: path)?.greet().isGreeting == true)
      for isStopped in [false, true] {
        let child = forkProcess()
        if child == 0 {
          guard OperationMonitor.socketPath == nil else { _exit(3) }
          if isStopped { OperationMonitor.stopListening() }
          do throws(MonitorError) {
            _ = try OperationMonitor.listen()
            _exit(4)
          } catch {
            guard error.description.contains("is a fork of") else { _exit(5) }
          }
          // `exit` calls the registered exit handlers, which `_exit` would not do. The handlers
          // must not remove the parent's socket.
          exit(0)
        }
        waitForSuccess(of: child)
        #expect(runtime.sockets == [path])
        #expect(WireClient(path: path)?.greet().isGreeting == true)
      }
      OperationMonitor.stopListening()
      #expect(runtime.sockets == [])
    }
  }

  @Test("The exit of a forked child sends nothing to the viewers of its parent")
  func exitOfForkInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let path = try OperationMonitor.listen()
      let client = try #require(WireClient(path: path))
      #expect(client.greet().isGreeting)
      client.send(.watch(Interest(), interval: .milliseconds(10)))
      client.send(.credit(1))
      #expect(client.receiveUpdate { _ in true } != nil)
      let start = ContinuousClock.now
      let child = forkProcess()
      if child == 0 {
        alarm(20)
        exit(0)
      }
      waitForSuccess(of: child)
      // The child does not wait for viewers, because it has none.
      #expect(ContinuousClock.now - start < .seconds(1))
      #expect(runtime.sockets == [path])
      let queue = OperationQueue()
      queue.name = "after the fork"
      client.send(.credit(1))
      let update = client.receiveUpdate { $0.queues.contains { $0.name == "after the fork" } }
      #expect(update != nil)
      OperationMonitor.stopListening()
      #expect(client.receive { WireClient.Answer.message($0).farewell }?.cause == .processEnds)
    }
  }

  @Test("A stop with a viewer that does not read ends after about a second")
  func stopsWithDeafViewerInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      let path = try OperationMonitor.listen()
      let client = try #require(WireClient(path: path))
      #expect(client.greet().isGreeting)
      // The viewer grants no credit, so it cannot receive the last update.
      client.send(.watch(Interest(), interval: .milliseconds(10)))
      client.send(.ping(1))
      #expect(client.receive { $0 == .pong(1) ? true : nil } == true)
      let start = ContinuousClock.now
      OperationMonitor.stopListening()
      let time = ContinuousClock.now - start
      #expect(time >= .milliseconds(700) && time < .seconds(5), "\(time)")
      #expect(client.receive().farewell?.cause == .processEnds)
      #expect(client.receive() == .closed)
      #expect(runtime.sockets == [])
    }
  }

  @Test("The collector runs while a viewer watches, and not before and after")
  func collectorRunsWhileWatchedInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let runtime = try RuntimeDirectory()
      defer { withExtendedLifetime(runtime) {} }
      let path = try OperationMonitor.listen()
      let queue = OperationQueue()
      let hasRun = Monitored(false)
      queue.addOperation { hasRun.change { $0 = true } }
      hasRun.wait(for: "the operation to run") { $0 }
      #expect(threadNames().contains("opq-monitor"))
      #expect(!threadNames().contains("opq-collector"))
      for _ in 0..<3 {
        let clients = try (0..<2).map { _ in try #require(WireClient(path: path)) }
        for client in clients {
          #expect(client.greet().isGreeting)
          // A viewer that has only sent a greeting does not make the process start a collector.
          client.send(.ping(1))
          #expect(client.receive() == .message(.pong(1)))
        }
        #expect(!threadNames().contains("opq-collector"))
        for client in clients {
          client.send(.watch(Interest(), interval: .milliseconds(10)))
          client.send(.credit(1))
          #expect(client.receiveUpdate { _ in true } != nil)
          #expect(threadNames().filter { $0 == "opq-collector" }.count == 1)
        }
        clients[0].close()
        clients[1].send(.ping(2))
        #expect(clients[1].receive { $0 == .pong(2) ? true : nil } == true)
        #expect(threadNames().contains("opq-collector"))
        clients[1].close()
        let deadline = ContinuousClock.now + .seconds(30)
        while threadNames().contains("opq-collector"), ContinuousClock.now < deadline {
          sched_yield()
        }
        #expect(!threadNames().contains("opq-collector"))
      }
    }
  }
}

/// The system function `fork`, which the module `Glibc` does not declare. Of the parent's threads,
/// the child has only the calling thread.
private let forkProcess = unsafeBitCast(
  dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

/// Returns the names of the threads of this process.
private func threadNames() -> [String] {
  MonitorDirectory(path: "/proc/self/task").fileNames.compactMap { thread in
    ProcessStart.contents(of: "/proc/self/task/\(thread)/comm").map {
      String(decoding: $0.dropLast(), as: UTF8.self)
    }
  }
}

/// A directory that this process uses instead of the user's runtime directory.
struct RuntimeDirectory {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    setenv("XDG_RUNTIME_DIR", directory.path, 1)
    unsetenv("OPQ_SOCKET_DIRECTORY")
  }

  /// The paths of the sockets in the directory.
  var sockets: [String] {
    let sockets = MonitorDirectory(path: directory.file("opq"))
    return sockets.fileNames.map { sockets.path(of: $0) }
  }
}

/// Waits for the end of a child process, and expects the status 0.
private func waitForSuccess(of child: pid_t) {
  var status: Int32 = -1
  waitpid(child, &status, 0)
  #expect(status == 0, "the child ended with \(status >> 8)")
}
