// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
@preconcurrency import Dispatch
import Synchronization

/// The operations of the process that hold exclusions or wait for exclusions.
final class Exclusions: Sendable {
  static let shared = Exclusions()

  struct State {
    var lines = ExclusionLines()
    var numbers: [ObjectIdentifier: ExclusionLines.Number] = [:]
    /// The operations that have requested their exclusions and have not finished, by their numbers.
    var operations: [ExclusionLines.Number: Operation] = [:]
    /// The number of threads that sleep at this moment, because their operation gives way to
    /// another operation.
    var givingWayCount = 0
    /// The present reservations, by the number of the operation that has the reservation.
    var reservations: [ExclusionLines.Number: LimitedReservation] = [:]
    /// The time at which the timer that ends reservations fires, on the monotonic clock.
    var timerEnd = Int64.max
  }

  struct LimitedReservation {
    let reservation: ExclusionLines.Reservation
    /// The time at which the reservation of exclusions ends, on the monotonic clock.
    let end: Int64
  }

  /// The lines of waiting operations and the timer's state. The property is internal, so that tests
  /// can hold the lock.
  let state = Locked(State())
  /// The factor by which the durations of reservations, and of the sleep of threads that give way,
  /// are multiplied. It is above 1 only in tests.
  private let timeScale: Int64
  /// A counter that is incremented when the lines of waiting operations have changed while a thread
  /// sleeps because its operation gives way to another operation. The thread sleeps until the
  /// counter changes. The counter is incremented after the lock of the lines is released, and a
  /// thread reads the counter before it acquires the lock. So a thread that has seen the old lines
  /// has read the old counter: it is woken, or does not fall asleep.
  private let changes = Atomic<UInt32>(0)
  /// The timer that ends reservations. One timer, set to the earliest end, is enough, because most
  /// reservations end before their time limit.
  private let timer = DispatchSource.makeTimerSource(queue: .global())

  init(timeScale: Int64 = 1) {
    self.timeScale = timeScale
    timer.setEventHandler { [weak self] in self?.endReservations() }
    timer.activate()
  }

  deinit { timer.cancel() }

  /// Requests the exclusions of an operation that is ready, has a slot and will be started by the
  /// calling thread. If the operation is refused, its queue chooses it again when it should repeat
  /// the request.
  ///
  /// The calling thread may sleep for a short time. After that, the operation's own `isReady` is
  /// evaluated again.
  ///
  /// - Parameters:
  ///   - operation: The operation. It may request its exclusions each time that its queue chooses
  ///     it.
  ///   - exclusions: The exclusions of the operation. They are used only at its first request.
  /// - Returns: Whether the operation must start now. If the result is `false`, the operation waits
  ///   for an exclusion or is no longer ready.
  /// - Precondition: The operation will call ``leave(_:)`` when it finishes.
  func acquire(_ operation: Operation, _ exclusions: Set<MutualExclusion>) -> Bool {
    var deadline: Int64?
    while true {
      let seen = changes.load(ordering: .acquiring)
      let insists = deadline.map { csystem_monotonic_nanoseconds() >= $0 } ?? false
      guard let answer = ask(operation, exclusions, insists: insists) else { return true }
      switch answer {
      case .granted: return true
      case .refused: return false
      case .givesWay(let nanoseconds):
        let now = csystem_monotonic_nanoseconds()
        let end = deadline ?? now + nanoseconds * timeScale
        deadline = end
        withUnsafePointer(to: changes) { _ = csystem_futex_wait($0, seen, max(1, end - now)) }
        state.withLock { $0.givingWayCount -= 1 }
        guard operation.isReady else {
          standBack(operation, isReady: false)
          return false
        }
      }
    }
  }

  /// Makes one request for the exclusions of an operation.
  ///
  /// - Returns: The answer; `nil` if the operation has finished on its own.
  private func ask(
    _ operation: Operation, _ exclusions: Set<MutualExclusion>, insists: Bool
  ) -> ExclusionLines.Answer? {
    // The request of a thread that gives way does not wake other threads that give way. Otherwise
    // these threads would wake each other endlessly.
    let reply = change(wakes: { !$0.givesWay }) {
      state -> (Reply, [ExclusionLines.Number]) in
      let status = operation.status.load(ordering: .sequentiallyConsistent)
      if state.numbers[ObjectIdentifier(operation)] == nil {
        // The thread that finishes the operation acquires the lock of the exclusions after the
        // finish. Either that thread finds the operation in `numbers`, or this thread sees the
        // finish.
        if status.isFinished { return (Reply(), []) }
        let number = state.lines.join(exclusions)
        state.numbers[ObjectIdentifier(operation)] = number
        state.operations[number] = operation
      }
      guard let number = state.numbers[ObjectIdentifier(operation)] else { return (Reply(), []) }
      // A thread that makes the operation unready changes its status, and then acquires the lock of
      // the exclusions to call `standBack`. So either this thread sees the change, or the operation
      // has started before the change.
      guard status.isEligible else {
        return (Reply(answer: .refused), state.lines.standBack(number).invited)
      }
      // The priority of the operation is read under the lock of the exclusions, because a thread
      // that changes the priority acquires this lock after the change.
      let group = ExclusionLines.Group(
        queue: UInt(bitPattern: operation.queue.load(ordering: .acquiring)?.toOpaque()),
        priorityIndex: status.priorityIndex)
      let (answer, invited) = state.lines.ask(number, in: group, insists: insists)
      if case .givesWay = answer { state.givingWayCount += 1 }
      return (
        Reply(answer: answer, reservation: state.lines.reservation(of: number)), invited
      )
    }
    if let reservation = reply.reservation { limit(reservation) }
    return reply.answer
  }

  private struct Reply {
    var answer: ExclusionLines.Answer?
    var reservation: ExclusionLines.Reservation?

    var givesWay: Bool { if case .givesWay = answer { true } else { false } }
  }

  // MARK: Reservations

  /// Makes the timer end a reservation after its time limit.
  private func limit(_ reservation: ExclusionLines.Reservation) {
    let end = csystem_monotonic_nanoseconds() + reservation.nanoseconds * timeScale
    let timerEnd = state.withLock { state -> Int64? in
      // Another thread may have ended the reservation since it was created.
      guard state.lines.reservation(of: reservation.number) == reservation else { return nil }
      state.reservations[reservation.number] = LimitedReservation(
        reservation: reservation, end: end)
      if end >= state.timerEnd { return nil }
      state.timerEnd = end
      return end
    }
    if let timerEnd { setTimer(timerEnd) }
  }

  /// Ends the reservations whose time is over, after the timer has fired.
  private func endReservations() {
    let now = csystem_monotonic_nanoseconds()
    let timerEnd = change { state -> (Int64, [ExclusionLines.Number]) in
      var invited: [ExclusionLines.Number] = []
      for (number, limited) in state.reservations {
        let isOver = limited.end <= now
        if isOver { invited += state.lines.endReservation(limited.reservation) }
        if isOver || state.lines.reservation(of: number) != limited.reservation {
          state.reservations[number] = nil
        }
      }
      state.timerEnd = state.reservations.values.map(\.end).min() ?? .max
      return (state.timerEnd, invited)
    }
    setTimer(timerEnd)
  }

  /// Sets the timer that ends reservations, outside the lock. The state contains the time at which
  /// the timer must fire. If two threads set the timer at once, the timer may get an outdated time.
  /// Therefore each thread reads the time in the state again afterwards, and sets the timer again
  /// if this time has changed.
  private func setTimer(_ end: Int64) {
    var end = end
    while true {
      let wait = end - csystem_monotonic_nanoseconds()
      timer.schedule(
        deadline: end == .max ? .distantFuture : .now() + .nanoseconds(Int(max(0, wait))))
      let current = state.withLock { $0.timerEnd }
      if current == end { return }
      end = current
    }
  }

  // MARK: Ends

  /// Removes a finished operation. Calls no code of the user except a `deinit`.
  func leave(_ operation: Operation) {
    let left = change { state -> (Operation?, [ExclusionLines.Number]) in
      guard let number = state.numbers.removeValue(forKey: ObjectIdentifier(operation)) else {
        return (nil, [])
      }
      state.reservations[number] = nil
      return (state.operations.removeValue(forKey: number), state.lines.leave(number))
    }
    withExtendedLifetime(left) {}
  }

  /// Removes an operation that has not started from its line, because the operation is no longer
  /// ready or has another priority. The operation requests its exclusions again when its queue
  /// chooses it.
  ///
  /// - Parameters:
  ///   - operation: The operation. It need not have requested its exclusions.
  ///   - isReady: Whether its queue should choose it again, if it waited for an exclusion.
  func standBack(_ operation: Operation, isReady: Bool) {
    change { state -> (Void, [ExclusionLines.Number]) in
      guard let number = state.numbers[ObjectIdentifier(operation)] else { return ((), []) }
      let (wasWaiting, invited) = state.lines.standBack(number)
      return ((), wasWaiting && isReady ? invited + [number] : invited)
    }
  }

  /// The reason why an operation cannot get the exclusion that it waits for.
  struct Obstacle {
    let exclusion: MutualExclusion
    /// The operations that execute with the exclusion.
    let holders: [Operation]
    /// The operations for which the exclusion is reserved. Reservations apply to the free places of
    /// the exclusion: its limit minus the number of holders.
    let reservers: [Operation]
    /// Whether no operation can get the exclusion before a holder has finished.
    let isHeld: Bool
  }

  /// Returns the reason why an operation cannot get the exclusion that it waits for; `nil` if the
  /// operation does not wait for an exclusion.
  func obstacle(of operation: Operation) -> Obstacle? {
    state.withLock { state in
      state.numbers[ObjectIdentifier(operation)].flatMap { state.lines.obstacle(of: $0) }
        .map { obstacle in
          Obstacle(
            exclusion: obstacle.exclusion,
            holders: obstacle.holders.compactMap { state.operations[$0] },
            reservers: obstacle.reservers.compactMap { state.operations[$0] },
            isHeld: obstacle.isHeld)
        }
    }
  }

  /// Changes the lines of waiting operations, and makes the queues of the invited operations choose
  /// them again.
  ///
  /// - Parameters:
  ///   - wakes: Returns whether the threads that give way must wake and repeat their requests after
  ///     this result.
  ///   - body: Makes the change. Returns the result and the numbers of the invited operations.
  /// - Returns: The result of `body`.
  private func change<Result>(
    wakes: (Result) -> Bool = { _ in true },
    _ body: (inout State) -> (Result, [ExclusionLines.Number])
  ) -> Result {
    let (result, invited, givesWay) = state.withLock { state in
      let (result, numbers) = body(&state)
      // This thread does not retain the invited operations. Otherwise, it could release the last
      // reference to one of them, although it may hold a lock of the user. The operations exist
      // until the call of `pushToQueue()` below, because `exclusionHasEnded()` keeps an operation
      // in its queue until that call.
      let invited = numbers.compactMap { number -> Unmanaged<Operation>? in
        guard let operation = state.operations[number],
          operation.update({ $0.exclusionHasEnded() })
        else { return nil }
        return .passUnretained(operation)
      }
      return (result, invited, state.givingWayCount > 0)
    }
    let mustWake = givesWay && wakes(result)
    for operation in invited { operation._withUnsafeGuaranteedRef { $0.pushToQueue() } }
    if mustWake {
      changes.wrappingAdd(1, ordering: .releasing)
      withUnsafePointer(to: changes) { csystem_futex_wake($0, Int32.max) }
    }
    return result
  }
}
