// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import FixtureSupport
import OperationsCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A program that runs asynchronous operations in a queue of width 8, and cancels some of them at
/// random moments.
///
/// The program runs in a separate process, so that threads of other tests are not counted.
enum AsyncStorm {
  private static let width = 8
  /// The maximum number of threads: a worker for each slot, and again as many that have just lost
  /// their slot; a thread for each processor, which Swift uses for tasks; and a few others, such as
  /// the main thread, the counting thread and other threads of the library.
  private static let threadsAtMost = 2 * width + sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 8

  /// Runs as many asynchronous operations as the first argument says, while another thread counts
  /// the threads of the process. Prints a line of figures. Exits with 1 if an operation has not
  /// finished exactly once, if more than 8 operations executed at the same time, or if there were
  /// too many threads.
  ///
  /// The second argument is the seed of the random moments. Without it, the seed is new, and is
  /// printed.
  static func run(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }) else {
      fatalError("usage: async-storm COUNT [SEED]")
    }
    let seed =
      arguments.dropFirst().first.flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)

    let threads = ThreadCount()
    threads.start()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    addAndCancel(count, in: queue, seed: seed)
    queue.waitUntilAllOperationsAreFinished()
    let (mostThreads, lookCount) = threads.stop()

    let finished = Drop.finished.load(ordering: .relaxed)
    let finishedAgain = Drop.finishedAgain.load(ordering: .relaxed)
    let mostRunning = Drop.mostRunning.load(ordering: .relaxed)
    let unbegun = count - Drop.begun.load(ordering: .relaxed)
    print(
      "\(count) operations, \(unbegun) cancelled before they began, at most \(mostRunning) ran at once, "
        + "\(mostThreads) threads at most (looked \(lookCount) times), \(ProcessStatus.amount("VmHWM") / 1_024) MiB, "
        + "seed \(seed)")
    guard finished == count, finishedAgain == 0, mostRunning <= width, mostThreads <= threadsAtMost
    else {
      print(
        "\(finished) have finished, \(finishedAgain) again; \(threadsAtMost) threads were allowed")
      exit(1)
    }
  }

  /// Adds a number of operations, and cancels some before they are in the queue, some that wait,
  /// some that execute, and some that have finished.
  private static func addAndCancel(_ count: Int, in queue: OperationQueue, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var recent: [Drop] = []
    for number in 1...count {
      let operation = Drop(yields: number % 4)
      recent.append(operation)
      if Int.random(in: 0..<8, using: &random) == 0 { operation.cancel() }
      queue.addOperation(operation)
      guard recent.count == 64 else { continue }
      for operation in recent where Int.random(in: 0..<4, using: &random) == 0 {
        operation.cancel()
      }
      recent.removeAll(keepingCapacity: true)
    }
  }
}

/// An operation that counts its events in counters of the class.
private final class Drop: AsyncOperation<Void>, @unchecked Sendable {
  static let begun = Atomic(0)
  static let running = Atomic(0)
  static let mostRunning = Atomic(0)
  static let finished = Atomic(0)
  static let finishedAgain = Atomic(0)

  private let yields: Int
  private let hasFinished = Atomic(false)

  /// Creates an operation whose work consists of yielding to other tasks.
  ///
  /// - Parameter yields: How often the work yields, if the operation is not cancelled.
  init(yields: Int) {
    self.yields = yields
    super.init()
  }

  override func run() async throws {
    Self.begun.wrappingAdd(1, ordering: .relaxed)
    let running = Self.running.wrappingAdd(1, ordering: .relaxed).newValue
    Self.mostRunning.max(running, ordering: .relaxed)
    defer { Self.running.wrappingSubtract(1, ordering: .relaxed) }
    for _ in 0..<yields {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    guard key == "isFinished" else { return }
    if hasFinished.exchange(true, ordering: .relaxed) {
      Self.finishedAgain.wrappingAdd(1, ordering: .relaxed)
    } else {
      Self.finished.wrappingAdd(1, ordering: .relaxed)
    }
  }
}

/// Counts the threads of the process from `start()` to `stop()`.
private final class ThreadCount: Sendable {
  private let most = Atomic(0)
  private let lookCount = Atomic(0)
  private let isOver = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts the thread that counts the threads of the process. The counting thread is also counted.
  func start() {
    startThread { [self] in
      lookUntilOver()
      hasEnded.signal()
    }
  }

  /// Ends the counting thread.
  ///
  /// - Returns: The maximum number of threads, and how often the threads were counted.
  func stop() -> (most: Int, lookCount: Int) {
    isOver.store(true, ordering: .relaxed)
    hasEnded.wait()
    return (most.load(ordering: .relaxed), lookCount.load(ordering: .relaxed))
  }

  private func lookUntilOver() {
    repeat {
      most.max(ProcessStatus.amount("Threads"), ordering: .relaxed)
      lookCount.wrappingAdd(1, ordering: .relaxed)
      // A count every 0.5 ms finds all threads that exist for some time, without a high load.
      usleep(500)
    } while !isOver.load(ordering: .relaxed)
  }
}
