// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A graph of waiting operations and of the operations that they wait for. Every search for cycles,
/// deadlocks and blockers uses it.
///
/// The graph is read part by part, at different moments, and only one lock is held at a time. A
/// second reading keeps only the parts that still exist. The result therefore describes one moment
/// between the two readings: an operation that has begun, has finished or has stopped waiting does
/// not return to its earlier state, and an operation that holds a slot keeps the slot until it
/// finishes. (A dependency that was removed and added again in between is not detected. In that
/// case the program has created the reported deadlock.)
struct WaitPicture {
  /// The operations, queues and exclusions that one operation waits for.
  struct Wait {
    var operations: [Int] = []
    /// The queue in which the operation needs a slot; `nil` if a slot of its queue is free.
    var fullQueue: Int?
    /// The exclusion that the operation needs, if several operations hold it. One of the holders
    /// must finish first.
    var exclusion: Int?
    /// Whether the operation is not in a queue and was not started.
    var isLeftAlone = false
  }

  /// The state of a queue that can make operations wait; empty if the queue has a free slot and no
  /// barriers.
  private struct Queue {
    /// The operations that hold the slots of the queue; `nil` if a slot is free.
    var slotHolders: [Operation]?
    /// For each operation that waits because of a barrier, and for each barrier, the operations
    /// that it waits for.
    var waits: [ObjectIdentifier: [Operation]] = [:]
    var barriers: Set<ObjectIdentifier> = []
  }

  /// The operations of the graph. The element `waits[n]` belongs to the operation with index `n`.
  private(set) var operations: [Operation] = []
  private(set) var waits: [Wait] = []
  private(set) var queues: [OperationQueue] = []
  /// For each queue, the operations that hold its slots; empty if a slot is free.
  private(set) var slotHolders: [[Int]] = []
  /// For each exclusion, the operations that hold it; empty if another operation can get the
  /// exclusion.
  private(set) var exclusionHolders: [[Int]] = []

  private var numbers: [ObjectIdentifier: Int] = [:]
  private var queueNumbers: [UnsafeMutableRawPointer: Int] = [:]
  private var exclusionNumbers: [MutualExclusion: Int] = [:]
  private var readings: [Queue] = []
  /// Further objects that were read for the graph, in addition to its operations and queues. They
  /// are retained until the search has ended; see ``references``.
  private var held: [any AnyObject & Sendable] = []
  /// Whether newly found operations and queues are added to the graph; `false` during the second
  /// reading.
  private var isGrowing = true
  /// Whether the graph contains only dependencies, and no other kinds of waits.
  private let hasOnlyDependencies: Bool

  /// Begins a graph of the dependencies that an operation waits for, directly and through others.
  /// The operation has the index 0.
  init(dependenciesOf root: Operation) {
    hasOnlyDependencies = true
    _ = number(of: root)
  }

  /// Creates a graph of the operations of these queues and of everything that they wait for,
  /// directly or through others.
  init(of roots: [OperationQueue]) {
    hasOnlyDependencies = false
    for root in roots {
      _ = number(of: root)
      for entry in root.core.withScheduler({ scheduler, _ in scheduler.contents }).entries {
        _ = number(of: entry.operation)
      }
    }
    readAll()
    slotHolders = readings.map {
      ($0.slotHolders ?? []).compactMap { numbers[ObjectIdentifier($0)] }
    }
  }

  /// Reads the waits of all known operations, including operations that become known during the
  /// call.
  mutating func readAll() {
    while waits.count < operations.count { waits.append(readWait(of: waits.count)) }
  }

  /// A graph in which an edge leads from each operation to every operation that must finish before
  /// it can continue.
  var graph: DirectedGraph {
    var graph = DirectedGraph()
    for wait in waits { graph.appendNode(edgesTo: wait.operations) }
    return graph
  }

  /// All objects that were read for the graph of the queues.
  ///
  /// During the search, an operation may finish, and its queue may release it. The references are
  /// kept until the end, so that the caller can release them on another thread.
  var references: [any AnyObject & Sendable] { held + operations + queues }

  /// Reads all operations, queues and exclusions of the graph again, and removes the parts of the
  /// graph that have changed.
  mutating func confirm() {
    isGrowing = false
    for index in readings.indices {
      let before = readings[index].slotHolders.map { Set($0.map(ObjectIdentifier.init)) }
      readings[index] = read(queues[index])
      let after = readings[index].slotHolders.map { Set($0.map(ObjectIdentifier.init)) }
      // If the second reading of a queue finds other operations in its slots, a slot was free
      // between the two readings.
      if before != after { readings[index].slotHolders = nil }
    }
    for index in operations.indices {
      let again = readWait(of: index)
      if waits[index].operations != again.operations {
        let still = Set(again.operations)
        waits[index].operations.removeAll { !still.contains($0) }
      }
      if waits[index].fullQueue != again.fullQueue { waits[index].fullQueue = nil }
      if waits[index].exclusion != again.exclusion { waits[index].exclusion = nil }
      waits[index].isLeftAlone = waits[index].isLeftAlone && again.isLeftAlone
    }
  }

  // MARK: Numbers

  /// Returns the index of an operation. During the first reading, a new operation is added. During
  /// the second reading, the result is `nil` for a new operation.
  private mutating func number(of operation: Operation) -> Int? {
    if let known = numbers[ObjectIdentifier(operation)] { return known }
    guard isGrowing else { return nil }
    numbers[ObjectIdentifier(operation)] = operations.count
    operations.append(operation)
    return operations.count - 1
  }

  private mutating func number(of queue: OperationQueue) -> Int? {
    let address = Unmanaged.passUnretained(queue.core).toOpaque()
    if let known = queueNumbers[address] { return known }
    guard isGrowing else { return nil }
    queueNumbers[address] = queues.count
    queues.append(queue)
    readings.append(read(queue))
    return queues.count - 1
  }

  /// Returns the index of the queue that contains an operation; `nil` if the graph has no such
  /// queue.
  private mutating func queueNumber(of operation: Operation) -> Int? {
    // The graph retains each queue that it contains, so no other queue can have the address of such
    // a queue. Therefore, if the operation has not left its queue, which the caller checks
    // afterwards, the queue that is found by its address contains the operation.
    if let core = operation.enqueuedQueue, let known = queueNumbers[core.toOpaque()] {
      return known
    }
    guard let core = operation.enqueuedQueue, let queue = QueueRegistry.queue(at: core) else {
      return nil
    }
    held.append(queue)
    // If the operation is not retired (has not left its queue), the queue at the stored address is
    // its queue.
    let isInQueue = !operation.status.load(ordering: .sequentiallyConsistent).has(.retired)
    return isInQueue ? number(of: queue) : nil
  }

  /// Returns the index of an exclusion that these operations hold. During the first reading, a new
  /// exclusion is added. During the second reading, the result is `nil` for a new exclusion.
  private mutating func number(
    of exclusion: MutualExclusion, heldBy operations: [Operation]
  ) -> Int? {
    let holders = operations.compactMap { number(of: $0) }
    if let known = exclusionNumbers[exclusion] {
      // If the second reading of an exclusion finds other holders, the exclusion was free between
      // the two readings.
      let isIntact =
        holders.count == operations.count && Set(holders) == Set(exclusionHolders[known])
      if isGrowing || !isIntact { exclusionHolders[known] = isGrowing ? holders : [] }
      return known
    }
    guard isGrowing else { return nil }
    exclusionNumbers[exclusion] = exclusionHolders.count
    exclusionHolders.append(holders)
    return exclusionHolders.count - 1
  }

  // MARK: Reading

  /// Reads what one operation waits for at present, and adds the awaited operations to the graph.
  mutating func readWait(of number: Int) -> Wait {
    let operation = operations[number]
    guard hasOnlyDependencies else { return readEveryWait(of: operation) }
    return Wait(operations: operation.dependenciesInTheWay.compactMap { self.number(of: $0) })
  }

  private mutating func readEveryWait(of operation: Operation) -> Wait {
    let status = operation.status.load(ordering: .acquiring)
    if status.isFinished { return Wait() }
    var wait = Wait()
    wait.isLeftAlone = status.isLeftAlone
    var targets: [Operation] = []
    if status.isPending, !status.has(.dispatched) {
      if status.isHeldUpByDependencies {
        let dependencies = operation.listedDependencies
        held += dependencies
        targets = dependencies
      }
      // If the exclusion has free places and is only reserved, the operation waits for no other
      // operation, because the reservation ends on its own.
      let obstacle = status.isExcluded ? Exclusions.shared.obstacle(of: operation) : nil
      if let obstacle { held += obstacle.holders + obstacle.reservers }
      if let obstacle, obstacle.isHeld {
        if obstacle.exclusion.limit == 1 {
          targets += obstacle.holders
        } else {
          wait.exclusion = number(of: obstacle.exclusion, heldBy: obstacle.holders)
        }
      }
      if status.has(.enqueued), let queue = queueNumber(of: operation) {
        let reading = readings[queue]
        // The members of a group wait for the start of the group, and so for everything that the
        // group waits for.
        if let group = (queues[queue] as? GroupQueue)?.pendingGroup { targets.append(group) }
        targets += reading.waits[ObjectIdentifier(operation)] ?? []
        let needsSlot = !reading.barriers.contains(ObjectIdentifier(operation))
        if needsSlot, let holders = reading.slotHolders {
          wait.fullQueue = queue
          for holder in holders { _ = number(of: holder) }
        }
      }
    } else {
      for awaited in operation.awaitedInside {
        switch awaited {
        case .operation(let other): targets.append(other)
        case .queue(let queue):
          held.append(queue)
          targets += queue.core.withScheduler { scheduler, _ in
            scheduler.allOperations + scheduler.allBarriers
          }
        }
      }
    }
    held += targets
    // The operation may have finished while its waits were read. In that case the values that were
    // read are outdated.
    if operation.status.load(ordering: .acquiring).isFinished { return Wait() }
    wait.operations = targets.compactMap { target in
      target.status.load(ordering: .acquiring).isFinished ? nil : number(of: target)
    }
    return wait
  }

  private mutating func read(_ queue: OperationQueue) -> Queue {
    let (holders, contents) = queue.core.withScheduler { scheduler, _ in
      (
        scheduler.isFull ? scheduler.slotHolders : nil,
        scheduler.barriers.isEmpty ? nil : scheduler.contents
      )
    }
    held += holders ?? []
    var reading = Queue(slotHolders: holders)
    guard let contents else { return reading }
    held += contents.entries.map(\.operation)
    var ahead: [Operation] = []
    var lastBarrier: Operation?
    for entry in contents.entries {
      let operation = ObjectIdentifier(entry.operation)
      if entry.isBarrier {
        reading.barriers.insert(operation)
        reading.waits[operation] = ahead
        ahead = [entry.operation]
        lastBarrier = entry.operation
      } else {
        ahead.append(entry.operation)
        if let lastBarrier { reading.waits[operation] = [lastBarrier] }
      }
    }
    return reading
  }
}

// MARK: - One operation

extension Operation {
  /// The dependencies that keep this operation from starting; empty if it does not wait for
  /// dependencies.
  final var dependenciesInTheWay: [Operation] {
    guard status.load(ordering: .acquiring).isHeldUpByDependencies else { return [] }
    return listedDependencies.filter { !$0.status.load(ordering: .acquiring).isFinished }
  }
}

extension OperationStatus {
  /// Whether the operation cannot start before its dependencies have finished.
  var isHeldUpByDependencies: Bool {
    unmetDependencyCount > 0 && isPending && !isCancelled && !has(.dispatched) && !has(.selfReady)
  }
}

extension Operation {
  /// The queue that contains the operation; `nil` if the operation is not in a queue or has left
  /// its queue.
  ///
  /// This property is for code that does not run on behalf of the queue, and therefore cannot
  /// assume that the queue still exists.
  final var queueHoldingIt: OperationQueue? {
    guard let core = enqueuedQueue, let queue = QueueRegistry.queue(at: core) else { return nil }
    // The operation may have left its queue meanwhile, that queue may have been destroyed, and
    // another queue may have the same address. If the operation is not retired (has not left its
    // queue), that queue exists and is `queue`.
    return status.load(ordering: .sequentiallyConsistent).has(.retired) ? nil : queue
  }
}
