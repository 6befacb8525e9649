// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

extension World {
  /// Performs a step of the program. It does nothing if the program has released its reference to
  /// the operation or queue.
  ///
  /// - Precondition: The step is not a misuse.
  func perform(_ step: Step) {
    switch step {
    case .add(let members, to: let queue): add(members, to: queue)
    case .start(let index): start(index)
    case .finish(let index): finish(index)
    case .cancel(let index):
      excuse([index])
      operation(index)?.cancel()
    case .cancelAll(in: let queue):
      excuse(
        reports.snapshot.entries.indices.filter { reports.snapshot.entries[$0].queue == queue })
      self.queue(queue)?.cancelAllOperations()
    case .depend(let index, on: let other):
      if fault == .ignoresDependencies { return }
      if let other = operation(other) { operation(index)?.addDependency(other) }
    case .require(let index, on: let other):
      if fault == .ignoresDependencies { return }
      excuse([index])
      guard let other = operation(other) else { return }
      operation(index)?.addDependency(
        other, requires: fault == .ignoresRequirements ? .completion : .success)
    case .undepend(let index, from: let other):
      if let other = operation(other) { operation(index)?.removeDependency(other) }
    case .prioritise(let index, let priority): operation(index)?.queuePriority = priority
    case .allow(let index): (operation(index) as? SteeredConditional)?.setCondition(true)
    case .forbid(let index): (operation(index) as? SteeredConditional)?.setCondition(false)
    case .suspend(let queue): self.queue(queue)?.isSuspended = true
    case .resume(let queue): self.queue(queue)?.isSuspended = false
    case .setWidth(let queue, let width):
      if fault == .ignoresWidths { return }
      self.queue(queue)?.maxConcurrentOperationCount = width
    case .drop(let index): drop(index)
    case .dropQueue(let queue): dropQueue(queue)
    case .wait(let index): wait(index)
    case .waitForAll(in: let queue): waitForAll(in: queue)
    }
  }

  /// Records that these operations may end without having run.
  func excuse(_ indices: [Int]) {
    reports.note { state in
      for index in indices { state.entries[index].mayNotRun = true }
    }
  }

  private func add(_ members: [Int], to index: Int) {
    guard let queue = queue(index) else { return }
    if let only = members.first, program.operations[only].kind == .barrier {
      return addBarrier(only, to: queue)
    }
    // This function retains the operations, because another thread may now release the program's
    // references to them.
    let pairs = members.compactMap { member in operation(member).map { (member, $0) } }
    guard let (_, first) = pairs.first else { return }
    noteQueue(index, of: pairs.map(\.0))
    if fault == .losesOperations { return }
    if members.count > 1 {
      queue.addOperations(pairs.map(\.1), waitUntilFinished: false)
    } else {
      queue.addOperation(first)
    }
  }

  private func noteQueue(_ queue: Int, of members: [Int]) {
    reports.note { state in
      for member in members { state.entries[member].queue = queue }
    }
  }

  private func addBarrier(_ index: Int, to queue: SteeredQueue) {
    noteQueue(queue.index, of: [index])
    if fault == .losesOperations { return }
    let probe = CaptureProbe(Role(index: index, reports: reports))
    if fault == .overtakesBarriers {
      queue.addOperation(OvertakingBlock { probe.runBody() })
    } else {
      queue.addBarrierBlock { probe.runBody() }
    }
  }

  private func start(_ index: Int) {
    guard let operation = operation(index) else { return }
    reports.note { state in
      state.entries[index].isStartedByHand = true
      state.startingCount += 1
    }
    startThread { [reports] in
      operation.start()
      reports.note { $0.startingCount -= 1 }
    }
  }

  private func finish(_ index: Int) {
    if let asynchronous = reports.snapshot.entries[index].underWay {
      return asynchronous.finish()
    }
    if program.operations[index].kind.isAsynchronous {
      excuse([index])
      (operation(index) as? any SteeredByProgram)?.finish()
    } else {
      reports.note { $0.entries[index].isReleased = true }
    }
  }

  // MARK: Waiting

  private func wait(_ index: Int) {
    guard let operation = operation(index) else { return }
    startThread {
      [reports, weak queue = reports.snapshot.entries[index].queue.flatMap(livingQueue)] in
      operation.waitUntilFinished()
      let name = Program.name(ofOperation: index)
      if !operation.isFinished { reports.note(violation: "a wait for \(name) ended too early") }
      if queue?.operations.contains(operation) == true {
        reports.note(violation: "\(name) is in its queue after a wait for it")
      }
      reports.note { $0.entries[index].returnedCount += 1 }
    }
  }

  private func waitForAll(in index: Int) {
    guard let queue = queue(index) else { return }
    startThread { [reports] in
      queue.waitUntilAllOperationsAreFinished()
      reports.note { $0.returnedFromQueueCount[index] += 1 }
    }
  }
}

/// A block operation that is added instead of a barrier if barriers have a deliberate fault. It
/// does not belong to the program, but may have the address of a destroyed operation of the
/// program.
final class OvertakingBlock: BlockOperation, @unchecked Sendable {}
