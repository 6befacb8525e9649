// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
@testable import RandomPrograms
import TestSupport

/// Real operations with random dependencies, and their model. One thread performs all steps, so the same seed
/// repeats a failure.
final class EdgePlay {
  private var random: SeededGenerator
  private var walk: EdgeWalk
  private var model: EdgeModel
  private let log: EventLog<Int>
  private let deinits: EventLog<String>
  private let queue = OperationQueue(name: "edges", maxConcurrentOperationCount: 1)
  /// The operations; `nil` for operations that were released.
  private var operations: [Operation?]
  private let indices: [UnsafeMutableRawPointer: Int]
  /// The operations that no longer exist. Their dependencies may still list them as dependents.
  private var destroyed: Set<Int> = []
  private(set) var findings: [String] = []
  /// The numbers of dependencies, of dependents, and of both, that a hub had after a step.
  private(set) var counts: (dependencies: [Int], dependents: [Int], both: [Int]) = ([], [], [])

  init(_ size: EdgeWalk.Size, seed: UInt64) {
    random = SeededGenerator(seed: seed)
    walk = EdgeWalk(size)
    model = EdgeModel(count: walk.count)
    let log = EventLog<Int>()
    let deinits = EventLog<String>()
    var operations: [Operation] = []
    for index in 0..<walk.count {
      let probe = DeinitProbe("\(index)", in: deinits)
      let work: @Sendable () -> Void = {
        probe.touch()
        log.note(index)
      }
      let isBlock = Bool.random(using: &random)
      operations.append(isBlock ? BlockOperation(block: work) : PlainSubclass(work: work))
    }
    self.log = log
    self.deinits = deinits
    self.operations = operations
    indices = Dictionary(
      uniqueKeysWithValues: operations.enumerated().map {
        (Unmanaged.passUnretained($1).toOpaque(), $0)
      })
    queue.isSuspended = true
  }

  // MARK: Running

  /// Performs random steps until one has another result than in the model, and then executes all operations.
  func run() {
    for _ in 0..<6 * walk.count + 40 where findings.isEmpty { step() }
    for index in walk.hubs { compareEdges(index) }
    // After a difference, the operations of the queue may wait for operations that are not in the queue.
    if !findings.isEmpty { return queue.cancelAllOperations() }
    for index in operations.indices.shuffled(using: &random) where findings.isEmpty { add(index) }
    model.runAll()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    if log.events != model.runs {
      findings.append("order of execution: \(log.events) instead of \(model.runs)")
    }
    for index in operations.indices { compareEdges(index) }
    operations = []
    let isReleased = poll(for: .seconds(Patience.seconds)) { deinits.events.count == walk.count }
    if !isReleased { findings.append("only \(deinits.events.count) operations were released") }
  }

  private func step() {
    let index = Int.random(in: 0..<walk.count, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<80: changeEdge()
    case 80..<84: if !walk.hubs.contains(index) || isLate { add(index) }
    case 84..<90: start(index)
    case 90..<93: cancel(index)
    case 93..<96: drop(index)
    case 96..<98:
      // The name is stored in another object, which takes over the edges.
      operations[index]?.name = "operation \(index)"
    default: compareReadiness()
    }
    noteCounts()
  }

  private var isLate: Bool { Int.random(in: 0..<8, using: &random) == 0 }

  private func noteCounts() {
    let hub = model.items[walk.hubs.lowerBound]
    counts.dependencies.append(hub.dependencies.count)
    counts.dependents.append(hub.dependents.count)
    counts.both.append(hub.dependencies.count + hub.dependents.count)
  }

  // MARK: Steps

  private func changeEdge() {
    let step = walk.step(
      using: &random, dependencies: { model.items[$0].dependencies },
      dependents: { model.items[$0].dependents })
    let members = step.operations
    guard let operation = operations[members[0]], let other = operations[members[1]] else { return }
    if case .depend = step {
      operation.addDependency(other)
      model.depend(members[0], on: members[1])
    } else {
      operation.removeDependency(other)
      model.undepend(members[0], from: members[1])
    }
    settle()
    for index in members { compareEdges(index, after: step) }
  }

  private func add(_ index: Int) {
    let item = model.items[index]
    guard let operation = operations[index], !item.isEnqueued, !item.isFinished else { return }
    queue.addOperation(operation)
    model.add(index)
    settle()
  }

  private func start(_ index: Int) {
    let item = model.items[index]
    // A hub that finished early would not wait for further dependencies.
    guard let operation = operations[index], !item.isEnqueued, !item.isFinished, item.isReady,
      !walk.hubs.contains(index) || isLate
    else { return }
    operation.start()
    model.start(index)
    settle()
    compareEdges(index)
  }

  private func cancel(_ index: Int) {
    guard let operation = operations[index], !walk.hubs.contains(index) || isLate else { return }
    operation.cancel()
    model.cancel(index)
    settle()
    compareEdges(index)
  }

  /// Releases an operation that has no dependents and is not in the queue. It no longer exists then.
  private func drop(_ index: Int) {
    guard operations[index] != nil, !model.items[index].isEnqueued, !walk.hubs.contains(index),
      !model.items.contains(where: { $0.dependencies.contains(index) })
    else { return }
    let dependencies = model.items[index].dependencies
    operations[index] = nil
    model.destroy(index)
    destroyed.insert(index)
    if !deinits.events.contains("\(index)") { findings.append("\(index) still exists") }
    for dependency in dependencies { compareEdges(dependency) }
  }

  /// Makes the queue process all changes, so that operations become ready in the order of the changes.
  private func settle() { _ = queue.operationCount }

  // MARK: Comparing

  private func compareEdges(_ index: Int, after step: Step? = nil) {
    guard let operation = operations[index] else { return }
    let item = model.items[index]
    let when = step.map { " after \($0)" } ?? ""
    let dependencies = operation.dependencies.map {
      indices[Unmanaged.passUnretained($0).toOpaque()] ?? -1
    }
    if dependencies != item.dependencies {
      findings.append("dependencies of \(index)\(when): \(dependencies), not \(item.dependencies)")
    }
    operation.lock.lock()
    let listed = operation.dependentsLocked.map { indices[$0.toOpaque()] ?? -1 }
    operation.lock.unlock()
    let dependents = listed.filter { !destroyed.contains($0) }
    if dependents != item.dependents {
      findings.append("dependents of \(index)\(when): \(dependents), not \(item.dependents)")
    }
    if operation.isReady != item.isReady {
      findings.append("isReady of \(index)\(when): \(operation.isReady)")
    }
  }

  private func compareReadiness() {
    for (index, operation) in operations.enumerated() {
      guard let operation, operation.isReady != model.items[index].isReady else { continue }
      findings.append("isReady of \(index): \(operation.isReady)")
    }
  }
}
