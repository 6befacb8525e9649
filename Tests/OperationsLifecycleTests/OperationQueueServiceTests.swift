// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Logging
import Operations
import OperationsLifecycle
import ServiceLifecycle
import TestSupport
import Testing
import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A service group with the service of a queue of width 1. An operation executes in the queue until
/// `release()` is called or the operation is cancelled, and another operation waits behind it.
private final class Scene: Sendable {
  let queue = OperationQueue(name: "served", maxConcurrentOperationCount: 1)
  let executing: AsyncOperation<Void>
  let pending: BlockOperation
  let log = EventLog<String>()
  let isReleased = Monitored(false)
  let group: ServiceGroup

  /// - Parameters:
  ///   - mode: The mode of the service.
  ///   - limit: The maximum duration of a graceful shutdown; `nil` if it is not limited.
  init(mode: OperationQueueShutdownMode? = nil, limit: Duration? = nil) {
    let (log, isReleased) = (log, isReleased)
    executing = AsyncOperation(name: "executing") {
      log.note("executing began")
      while !isReleased.value, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
      log.note("executing ended")
    }
    pending = BlockOperation { log.note("pending ran") }
    queue.addOperations([executing, pending])
    let service =
      if let mode { OperationQueueService(queue, mode: mode) } else { OperationQueueService(queue) }
    var configuration = ServiceGroupConfiguration(
      services: [.init(service: service)], logger: Logger(label: "test"))
    configuration.maximumGracefulShutdownDuration = limit
    group = ServiceGroup(configuration: configuration)
  }

  /// Starts the group. Returns its task when the first operation executes.
  func start() -> Task<Void, any Error> {
    let run = Task { try await group.run() }
    log.wait(for: "executing began")
    return run
  }

  func release() { isReleased.change { $0 = true } }

  /// Blocks the calling thread until the queue is closed.
  func waitUntilClosed() {
    #expect(poll(for: .seconds(Patience.seconds), pausing: true) { queue.isClosed })
  }
}

@Suite("The service of a queue", .timeLimit(.minutes(5)), .onOwnThread)
struct OperationQueueServiceTests {
  @Test("The service keeps the queue open until the group shuts down")
  func staysOpen() async throws {
    let scene = Scene()
    let run = scene.start()
    scene.release()
    await scene.queue.waitUntilAllOperationsAreFinished()
    #expect(!scene.queue.isClosed)
    let later = scene.queue.addOperation(name: "later") { 7 }
    #expect(try await later.value == 7)
    await scene.group.triggerGracefulShutdown()
    try await run.value
    #expect(scene.queue.isClosed)
  }

  @Test("A graceful shutdown closes the queue, and returns when all of its operations have run")
  func drains() async throws {
    let scene = Scene()
    let run = scene.start()
    await scene.group.triggerGracefulShutdown()
    scene.waitUntilClosed()
    #expect(!scene.executing.isFinished && !scene.executing.isCancelled)
    scene.release()
    try await run.value
    #expect(scene.log.events == ["executing began", "executing ended", "pending ran"])
    #expect(!scene.executing.isCancelled && !scene.pending.isCancelled)
  }

  @Test("A graceful shutdown with another mode cancels the operations that the mode selects")
  func modes() async throws {
    for mode in [OperationQueueShutdownMode.cancelPending, .cancelAll] {
      let scene = Scene(mode: mode)
      let run = scene.start()
      await scene.group.triggerGracefulShutdown()
      scene.waitUntilClosed()
      #expect(poll(for: .seconds(Patience.seconds), pausing: true) { scene.pending.isCancelled })
      #expect(scene.executing.isCancelled == (mode == .cancelAll))
      scene.release()
      try await run.value
      #expect(scene.log.events == ["executing began", "executing ended"])
    }
  }

  @Test("If the group's task is cancelled, all operations are cancelled, and then the group ends")
  func cancels() async {
    let scene = Scene()
    let run = scene.start()
    run.cancel()
    _ = await run.result
    #expect(scene.queue.isClosed && scene.queue.operationCount == 0)
    #expect(scene.executing.isCancelled && scene.pending.isCancelled)
    #expect(scene.log.events == ["executing began", "executing ended"])
  }

  @Test("If a graceful shutdown takes too long, the group's limit cancels all operations")
  func escalates() async {
    let scene = Scene(limit: .milliseconds(20))
    let run = scene.start()
    await scene.group.triggerGracefulShutdown()
    _ = await run.result
    #expect(scene.queue.isClosed && scene.queue.operationCount == 0)
    #expect(scene.executing.isCancelled && scene.pending.isCancelled)
  }

  @Test("A service that is listed after the queue's service can add operations until it ends")
  func ordersServices() async throws {
    let queue = OperationQueue(name: "ordered")
    let log = EventLog<String>()
    let producer = Producer {
      try? await gracefulShutdown()
      queue.addOperation { log.note("added at the end") }
    }
    let group = ServiceGroup(services: [OperationQueueService(queue), producer])
    let run = Task { try await group.run() }
    await group.triggerGracefulShutdown()
    try await run.value
    #expect(log.events == ["added at the end"])
  }

  @Test("However shutdown and cancellation race, the queue is closed and empty when the group ends")
  func race() async {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for round in 0..<Effort.scaled(200) {
      let scene = Scene()
      let run = scene.start()
      let pauses = (0..<2).map { _ in UInt32.random(in: 0...200, using: &random) }
      async let shutdown: Void = {
        usleep(pauses[0])
        await scene.group.triggerGracefulShutdown()
      }()
      usleep(pauses[1])
      run.cancel()
      await shutdown
      _ = await run.result
      #expect(
        scene.queue.isClosed && scene.queue.operationCount == 0 && scene.executing.isFinished
          && scene.pending.isFinished, "round \(round)")
    }
  }

  @Test("A real signal for a graceful shutdown lets the operations of the queue run to their end")
  func signalInOwnProcess() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let queue = OperationQueue(name: "signalled", maxConcurrentOperationCount: 1)
      let finished = EventLog<Int>()
      for number in 0..<3 {
        queue.addAsyncOperation {
          while number == 0, !queue.isClosed { try await Task.sleep(for: .milliseconds(1)) }
          finished.note(number)
        }
      }
      // A group handles signals before it starts its services.
      let sender = Producer {
        kill(getpid(), SIGTERM)
        try? await gracefulShutdown()
      }
      let group = ServiceGroup(
        services: [OperationQueueService(queue), sender], gracefulShutdownSignals: [.sigterm])
      try await group.run()
      exit(finished.events == [0, 1, 2] ? 7 : 1)
    }
  }
}

/// A service that runs a closure.
private struct Producer: Service {
  let body: @Sendable () async -> Void

  func run() async { await body() }
}
