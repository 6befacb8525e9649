// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// Operations whose dependencies several threads add and remove while a queue executes them.
///
/// Each pair of operations belongs to one thread, which alone adds and removes the dependency between them. An
/// operation depends only on operations with smaller indices, so there are no cycles. There are three parts:
///
/// 1. The waiting operations, which are the second half, also depend on a gate. The threads change dependencies
///    while the queue executes the operations of the first half.
/// 2. Each thread remembers which dependencies are now listed. Each waiting operation must run after those.
/// 3. The gate opens. The threads change other dependencies while the waiting operations run, and cancel some
///    of them.
final class EdgeRace: Sendable {
  private static let threadCount = 3

  private struct Pair: Hashable {
    let dependent: Int
    let dependency: Int
  }

  private struct State {
    var findings: [String] = []
    /// For each thread and each operation, the dependencies that the thread has added and not removed, in order.
    var listed: [[[Int]]]
    /// For each operation, the dependencies that had to finish before it.
    var required: [[Int]]
    var runCounts: [Int]
    var isFinished: [Bool]
    var cancelled: Set<Int> = []
  }

  private let count: Int
  /// The number of changes that each thread tries in each part. Most of them belong to another thread.
  private let changeCount: Int
  private let seed: UInt64
  private let operations: Locked<[Operation]>
  private let gate = Operation()
  private let state: Monitored<State>
  private let deinits = EventLog<String>()

  var findings: [String] { state.value.findings }

  init(edgeCount: Int, seed: UInt64) {
    let count = 2 * edgeCount + 4
    self.count = count
    changeCount = 30 * edgeCount
    self.seed = seed
    state = Monitored(
      State(
        listed: Array(
          repeating: Array(repeating: [], count: count), count: Self.threadCount),
        required: Array(repeating: [], count: count),
        runCounts: Array(repeating: 0, count: count),
        isFinished: Array(repeating: false, count: count)))
    operations = Locked([])
    let made = (0..<count).map { makeOperation($0) }
    operations.withLock { $0 = made }
  }

  private func makeOperation(_ index: Int) -> Operation {
    let probe = DeinitProbe("\(index)", in: deinits)
    let work: @Sendable () -> Void = { [state] in
      probe.touch()
      state.change { state in
        state.runCounts[index] += 1
        let early = state.required[index].filter {
          !state.isFinished[$0] && !state.cancelled.contains($0)
        }
        if !early.isEmpty, !state.cancelled.contains(index) {
          state.findings.append("\(index) runs before its dependencies \(early)")
        }
        state.isFinished[index] = true
      }
    }
    return index.isMultiple(of: 2) ? BlockOperation(block: work) : PlainSubclass(work: work)
  }

  /// The two operations with the most dependencies: the last one of the first half, and the last one.
  private var hubs: [Int] { [count / 2 - 1, count - 1] }

  // MARK: Running

  func run() {
    do {
      let all = operations.withLock { $0 }
      let queue = OperationQueue(name: "race", maxConcurrentOperationCount: 2)
      for waiting in all[(count / 2)...] { waiting.addDependency(gate) }
      queue.addOperations(Array(all[(count / 2)...]), waitUntilFinished: false)
      let seed = seed
      onThreads(Self.threadCount + 1) { [self] thread in
        var random = SeededGenerator(seed: seed ^ UInt64(thread + 1) << 32)
        if thread < Self.threadCount { return change(thread, all, inPart: 1, &random) }
        for operation in all[..<(count / 2)].shuffled(using: &random) {
          queue.addOperation(operation)
        }
      }
      requireListed()
      onThreads(Self.threadCount + 2) { [self] thread in
        var random = SeededGenerator(seed: seed ^ UInt64(thread + 11) << 32)
        switch thread {
        case ..<Self.threadCount: change(thread, all, inPart: 3, &random)
        case Self.threadCount: gate.start()
        default: cancelSome(all, &random)
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      check(all)
    }
    checkRelease()
  }

  /// Adds and removes dependencies of a thread's pairs.
  private func change(
    _ thread: Int, _ all: [Operation], inPart part: Int, _ random: inout SeededGenerator
  ) {
    var listed = state.value.listed[thread]
    for _ in 0..<changeCount {
      guard let pair = pair(of: thread, inPart: part, &random) else { continue }
      let (dependent, dependency) = (all[pair.dependent], all[pair.dependency])
      switch Int.random(in: 0..<20, using: &random) {
      case 0: dependent.name = "operation \(pair.dependent)"
      case 1: Operation().addDependency(dependency)
      case 2: noteOrder(dependent, listed[pair.dependent])
      case 3..<13:
        dependent.addDependency(dependency)
        if !listed[pair.dependent].contains(pair.dependency) {
          listed[pair.dependent].append(pair.dependency)
        }
      default:
        dependent.removeDependency(dependency)
        listed[pair.dependent].removeAll { $0 == pair.dependency }
      }
    }
    state.change { [listed] in $0.listed[thread] = listed }
  }

  /// Returns a random pair of operations that belongs to a thread and to a part; `nil` if the random pair belongs
  /// to another thread.
  private func pair(
    of thread: Int, inPart part: Int, _ random: inout SeededGenerator
  ) -> Pair? {
    var dependent = Int.random(in: 1..<count, using: &random)
    if Bool.random(using: &random) { dependent = hubs.randomElement(using: &random) ?? dependent }
    var dependency = Int.random(in: 0..<dependent, using: &random)
    // The hub of the first half gets many dependents too.
    if dependent > hubs[0], Int.random(in: 0..<4, using: &random) == 0 { dependency = hubs[0] }
    // The third part changes other pairs, so that the dependencies of the first part stay listed.
    let number = dependent + 2 * dependency
    guard number % Self.threadCount == thread, (number / 3) % 4 == 3 ? part == 3 : part == 1 else {
      return nil
    }
    return Pair(dependent: dependent, dependency: dependency)
  }

  private func cancelSome(_ all: [Operation], _ random: inout SeededGenerator) {
    for _ in 0..<2 {
      let index = Int.random(in: count / 2..<count, using: &random)
      state.change { $0.cancelled.insert(index) }
      all[index].cancel()
    }
  }

  private func requireListed() {
    state.change { state in
      for index in count / 2..<count { state.required[index] = state.listed.flatMap { $0[index] } }
    }
  }

  // MARK: Checking

  /// Checks that the dependencies that a thread has added are listed in their order, while other threads add and
  /// remove theirs.
  private func noteOrder(_ operation: Operation, _ expected: [Int]) {
    let all = operations.withLock { $0 }
    let wanted = expected.map { ObjectIdentifier(all[$0]) }
    let members = Set(wanted)
    let seen = operation.dependencies.map(ObjectIdentifier.init).filter(members.contains)
    if seen != wanted { note("the dependencies of an operation have lost their order") }
  }

  private func note(_ finding: String) { state.change { $0.findings.append(finding) } }

  private func check(_ all: [Operation]) {
    let last = state.value
    for (index, operation) in all.enumerated() {
      if !operation.isFinished || !operation.isReady { note("\(index) has not finished") }
      let runCount = last.runCounts[index]
      if runCount > 1 || runCount == 0 && !last.cancelled.contains(index) {
        note("\(index) has run \(runCount) times")
      }
      let expected = last.listed.flatMap { $0[index] }
      let others = index < count / 2 ? 0 : 1
      if operation.dependencies.count != expected.count + others {
        note("\(index) has \(operation.dependencies.count) dependencies, not \(expected.count)")
      }
      for thread in last.listed { noteOrder(operation, thread[index]) }
    }
  }

  private func checkRelease() {
    let released = operations.withLock { operations in
      defer { operations = [] }
      return operations.map { Remembered(operation: $0) }
    }
    let isReleased = poll(for: .seconds(Patience.seconds)) {
      deinits.events.count == count && released.allSatisfy { $0.operation == nil }
    }
    if !isReleased { note("operations were not released") }
  }
}

private struct Remembered {
  weak var operation: Operation?
}
