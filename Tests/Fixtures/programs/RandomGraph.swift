// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import OperationsCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Builds a random graph with a limit of memory, and releases it. Each operation depends on four random ones of
/// the 1,000 operations before it, and the whole graph is in memory.
///
/// The program runs in a separate process, so that memory of other tests is not counted.
enum RandomGraph {
  private static let dependencyCount = 4
  private static let distanceAtMost = 1_000
  /// The maximum memory in bytes for each operation with its edges. An operation is 128 bytes. Four dependencies
  /// and about four dependents need a block of 64 or 128 bytes, and the list of all operations has 8 bytes for
  /// each. The measured sum for 10,000,000 operations is 209 bytes.
  private static let bytesForOperation = 256
  /// The memory in bytes for everything else, mainly the stacks of threads.
  private static let bytesForOthers = 128 << 20
  /// The stack of the thread that builds and releases the graph, in bytes. A path through 10,000,000 operations
  /// has at least 10,000 operations. A recursive release needs more than 64 bytes of stack for each of them.
  private static let stackSize = 256 << 10

  /// Builds a graph with as many operations as the first argument says. The second argument is "release" if the
  /// graph is released without running, or "run" if a queue executes it first. Prints the memory that was used.
  /// Exits with 1 if an operation has run at the wrong time, or still exists at the end.
  ///
  /// With "keep" as the third argument, the newest operation is not released, which shows that the check can fail.
  static func run(_ arguments: [String]) {
    guard let count = arguments.first.flatMap({ Int($0) }), count > 0, arguments.count > 1,
      ["release", "run"].contains(arguments[1])
    else { fatalError("usage: random-graph COUNT release|run [keep]") }
    limitMemory(bytesForOperation * count + bytesForOthers)
    let hasEnded = Monitored(false)
    startThread(stackSize: stackSize) {
      var operations = build(count)
      if arguments[1] == "run" { execute(operations) }
      let kept = arguments.last == "keep" ? operations.last : nil
      operations = []
      report(count, runCount: arguments[1] == "run" ? count : 0)
      withExtendedLifetime(kept) { hasEnded.change { $0 = true } }
    }
    guard hasEnded.comesTrue(within: 600, { $0 }) else {
      fatalError("the graph was not released within 600 seconds")
    }
  }

  private static func limitMemory(_ bytes: Int) {
    let bytes = rlim_t(bytes)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else {
      fatalError("cannot set the memory limit: error \(errno)")
    }
  }

  private static func build(_ count: Int) -> [Operation] {
    // The graph is the same each time.
    var random = SeededGenerator(seed: 1)
    var operations: [Operation] = []
    operations.reserveCapacity(count)
    for index in 0..<count {
      let operation = Node()
      let oldest = max(0, index - distanceAtMost)
      for _ in 0..<min(dependencyCount, index) {
        operation.addDependency(operations[Int.random(in: oldest..<index, using: &random)])
      }
      operations.append(operation)
    }
    return operations
  }

  private static func execute(_ operations: [Operation]) {
    let queue = OperationQueue()
    for operation in operations { queue.addOperation(operation) }
    queue.waitUntilAllOperationsAreFinished()
  }

  private static func report(_ count: Int, runCount: Int) {
    // A worker may have the last reference to an operation that it has executed, and then releases the graph.
    _ = poll(for: .seconds(30), pausing: true) { Node.alive.load(ordering: .relaxed) == 0 }
    let alive = Node.alive.load(ordering: .relaxed)
    let runs = Node.runs.load(ordering: .relaxed)
    let early = Node.early.load(ordering: .relaxed)
    let memory = ProcessStatus.amount("VmHWM")
    print(
      "\(count) operations, \(runs) have run, \(early) too early, \(alive) left,",
      "at most \(memory) KiB, \(memory * 1_024 / count) bytes each")
    if runs != runCount || early > 0 || alive > 0 { exit(1) }
  }
}

/// An operation of the graph. The class counts the operations that exist, and those that have run.
private final class Node: Operation, @unchecked Sendable {
  static let alive = Atomic(0)
  static let runs = Atomic(0)
  /// The number of operations that ran before one of their dependencies had finished.
  static let early = Atomic(0)

  override init() { Self.alive.wrappingAdd(1, ordering: .relaxed) }

  deinit { Self.alive.wrappingSubtract(1, ordering: .relaxed) }

  override func main() {
    Self.runs.wrappingAdd(1, ordering: .relaxed)
    let isEarly = dependencies.contains { !$0.isFinished }
    if isEarly { Self.early.wrappingAdd(1, ordering: .relaxed) }
  }
}
