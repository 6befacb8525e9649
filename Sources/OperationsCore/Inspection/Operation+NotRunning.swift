// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension OperationSupplement where Self: Operation {
  /// Returns every reason why the operation has not started, in the order of ``NotRunningReason``.
  ///
  /// The result is empty if the operation executes or has finished, cancelled or not. A cancelled
  /// operation that has not started does not wait for dependencies or for its own `isReady`. It
  /// waits for a slot, in which its queue finishes it without running it.
  ///
  /// The reasons are read one after the other. Concurrent changes may be missed, and the list may
  /// be empty between two states. The values of the queue are from a single moment. The operation's
  /// `isReady` is not called. The value that the operation last announced is used.
  ///
  /// This method can be called on any thread, for debugging. Its time is proportional to the number
  /// of dependencies of the operation and of up to twelve operations that it waits for, and to the
  /// number of operations that execute in the queue or are ready before this one, up to
  /// 10,000. The queue starts and finishes no operation during a part
  /// of that time.
  public func reasonsNotRunning() -> [NotRunningReason] { NotRunning.reasons(of: self) }
}

/// Finds the reasons why an operation has not started.
private enum NotRunning {
  static func reasons(of operation: Operation) -> [NotRunningReason] {
    let status = operation.status.load(ordering: .acquiring)
    guard status.isPending, !status.has(.dispatched) else { return [] }
    var reasons: [NotRunningReason] = []
    let queue = operation.queueHoldingIt
    let standing = queue?.core.withScheduler { scheduler, _ in scheduler.standing(of: operation) }
    if status.isLeftAlone { reasons.append(.notInQueue) }
    if let queue, standing?.startsNothing == true {
      reasons.append(.queueSuspended(QueueReference(queue)))
    }
    let dependencies = operation.listedDependencies
    let unmet = operation.dependenciesInTheWay
    if !unmet.isEmpty {
      if let chain = BlockerSearch.chain(from: operation) {
        reasons.append(
          .unmetDependencies(
            unmet: unmet.map(OperationReference.init), total: dependencies.count, chain: chain))
      }
    }
    if let timeLeft = operation.delayLeft { reasons.append(.delayed(timeLeft: timeLeft)) }
    if status.isPutOff { reasons.append(reasonToPutOff(operation)) }
    if let queue, let standing { reasons += self.reasons(standing, in: queue) }
    let neverAdded = unmet.filter { $0.status.load(ordering: .acquiring).isLeftAlone }
    if !neverAdded.isEmpty {
      reasons.append(.dependenciesNeverAdded(neverAdded.map(OperationReference.init)))
    }
    // The operation may have started while the reasons were read. In that case, the reasons are no
    // longer relevant.
    let newStatus = operation.status.load(ordering: .acquiring)
    return newStatus.isPending && !newStatus.has(.dispatched) ? reasons : []
  }

  private static func reasonToPutOff(_ operation: Operation) -> NotRunningReason {
    guard let obstacle = Exclusions.shared.obstacle(of: operation) else { return .notReadyByItself }
    if !obstacle.reservers.isEmpty {
      return .exclusionReserved(
        obstacle.exclusion, for: obstacle.reservers.map(OperationReference.init))
    }
    return .excluded(obstacle.exclusion, holders: obstacle.holders.map(OperationReference.init))
  }

  private static func reasons(
    _ standing: QueueStanding, in queue: OperationQueue
  ) -> [NotRunningReason] {
    var reasons: [NotRunningReason] = []
    if let position = standing.position {
      if let holders = standing.slotHolders {
        reasons.append(
          .noFreeSlot(
            QueueReference(queue), width: standing.width, position: position,
            holders: holders.map(OperationReference.init)))
      } else if standing.hasFreeSlot, standing.firstBarrier == nil, let limiter = standing.limiter {
        reasons.append(
          .startLimitReached(
            QueueReference(queue), limit: limiter.limit, position: position,
            nextStartIn: standing.nextStart.map { max(.zero, $0 - limiter.time.now) }))
      } else if standing.hasFreeSlot, standing.firstBarrier == nil {
        reasons.append(
          .notStartedYet(
            QueueReference(queue), lacks: threadSource(of: queue, width: standing.width),
            position: position,
            readyFor: standing.becameReady.map {
              .nanoseconds(max(0, csystem_monotonic_nanoseconds() - $0))
            }))
      }
    }
    if let barrier = standing.firstBarrier {
      reasons.append(
        .barrierAhead(
          OperationReference(barrier), isRunning: standing.isBarrierRunning,
          count: standing.barriersAhead))
    }
    return reasons
  }

  private static func threadSource(
    of queue: OperationQueue, width: Int
  ) -> NotRunningReason.ThreadSource {
    if queue.core.scheduler.withLock({ $0.stepper }) != nil { return .test }
    if queue.core.isOnMainDispatchQueue { return .mainQueue }
    if queue.core.isOnDispatch.load(ordering: .acquiring) { return .dispatchQueue }
    return width < 0 ? .sharedThreads : .ownThread
  }
}

/// The position of an operation in its queue at one moment.
private struct QueueStanding {
  var startsNothing = false
  /// The width of the queue; −1 if the system decides.
  var width = -1
  var hasFreeSlot = false
  /// The operations that hold the slots of the queue; `nil` if a slot is free.
  var slotHolders: [Operation]?
  /// The number of ready operations that start before this operation; `nil` unless this operation
  /// is ready.
  var position: Int?
  var becameReady: Int64?
  /// The limit of starts; `nil` unless it is reached.
  var limiter: StartLimiter?
  /// The time on the limit's clock at which the next start is possible; `nil` if it is not known.
  var nextStart: Duration?
  var firstBarrier: Operation?
  var isBarrierRunning = false
  var barriersAhead = 0
}

extension QueueScheduler {
  /// Returns the position of an operation in this queue; `nil` after the operation was chosen to be
  /// started.
  fileprivate func standing(of operation: Operation) -> QueueStanding? {
    var standing = QueueStanding()
    switch operation.place.stage {
    case .executing, .lingering, .gone: return nil
    // The operation has no position in the queue, because a thread is adding it at this moment.
    case .outside: return QueueStanding()
    case .waiting: break
    case .ready:
      standing.position = position(of: operation)
      standing.becameReady = operation.rare?.record?.snapshot.becameReady
    }
    standing.startsNothing = startsNothing
    standing.width = maxConcurrentOperationCount
    standing.hasFreeSlot = hasFreeSlot
    if isFull, standing.position != nil { standing.slotHolders = slotHolders }
    if isStartLimitReached {
      standing.limiter = limiter
      standing.nextStart = starts?.nextEnd
    }
    standing.barriersAhead = barriers.countAhead(of: operation)
    if standing.barriersAhead > 0 {
      standing.firstBarrier = allBarriers.first
      standing.isBarrierRunning = isBarrierRunning
    }
    return standing
  }

  private func position(of operation: Operation) -> Int? {
    let address = Unmanaged.passUnretained(operation)
    var count = 0
    var isFound = false
    // The count of ready operations stops at a limit, because counting further would block the
    // queue for a long time.
    forEachReady {
      if $0.toOpaque() == address.toOpaque() {
        isFound = true
        return false
      }
      count += 1
      return count < NotRunningReason.positionLimit
    }
    return isFound || count == NotRunningReason.positionLimit ? count : nil
  }
}
