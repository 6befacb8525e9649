// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
@preconcurrency import Dispatch
import Synchronization

/// The lines of operations that wait for exclusions, for the whole process, with the operation of
/// each member.
final class Exclusions: Sendable {
  static let shared = Exclusions()

  struct State {
    var lines = ExclusionLines()
    var numbers: [ObjectIdentifier: ExclusionLines.Number] = [:]
    /// The operations that have requested their exclusions and have not finished, by their numbers.
    var operations: [ExclusionLines.Number: Operation] = [:]
    /// The number of threads that give way to another operation at this moment.
    var givingWayCount = 0
    /// The present reservation of each member that has one.
    var reservations: [ExclusionLines.Number: LimitedReservation] = [:]
    /// The time at which the timer fires, on the monotonic clock.
    var timerEnd = Int64.max
  }

  struct LimitedReservation {
    let reservation: ExclusionLines.Reservation
    /// The end of the reservation, on the monotonic clock.
    let end: Int64
  }

  /// The lines and the timer's state. The property is internal, so that tests can hold the lock.
  let state = Locked(State())
  /// The factor by which the times for giving way and for reservations are longer: above 1 only in
  /// tests.
  private let timeScale: Int64
  /// A number that changes when the lines change while a thread gives way. The thread that gives
  /// way sleeps on this number. The change is made after the lines' lock is released, and a thread
  /// reads it before it takes that lock. So a thread that has seen the old lines sleeps on the old
  /// number, and is woken or does not fall asleep.
  private let changes = Atomic<UInt32>(0)
  /// Ends reservations. There is one timer, set to the earliest end, because most reservations end
  /// before their time.
  private let timer = DispatchSource.makeTimerSource(queue: .global())

  init(timeScale: Int64 = 1) {
    self.timeScale = timeScale
    timer.setEventHandler { [weak self] in self?.endReservations() }
    timer.activate()
  }

  deinit { timer.cancel() }

  /// Requests the exclusions of an operation that is ready, has a slot and will be started by the
  /// calling thread. If the operation is refused, its queue chooses it again when it should ask
  /// again.
  ///
  /// The calling thread may sleep for a short time. After that, the operation's own `isReady` is
  /// evaluated again.
  ///
  /// - Parameters:
  ///   - operation: The operation, which may ask each time that it is chosen.
  ///   - exclusions: The exclusions; read at the first request.
  /// - Returns: Whether the operation must start now. If the result is `false`, the operation has a
  ///   place in a line or is no longer ready.
  /// - Precondition: The operation has promised to leave when it finishes.
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

  /// - Returns: `nil` if the operation has finished on its own.
  private func ask(
    _ operation: Operation, _ exclusions: Set<MutualExclusion>, insists: Bool
  ) -> ExclusionLines.Answer? {
    // A thread that gives way changes nothing for others that give way. If it woke them, all would
    // spin.
    let reply = change(wakes: { !$0.givesWay }) {
      state -> (Reply, [ExclusionLines.Number]) in
      let status = operation.status.load(ordering: .sequentiallyConsistent)
      if state.numbers[ObjectIdentifier(operation)] == nil {
        // The thread that finishes the operation acquires this lock later. Either that thread finds
        // the operation here, or this thread sees the finish.
        if status.isFinished { return (Reply(), []) }
        let number = state.lines.join(exclusions)
        state.numbers[ObjectIdentifier(operation)] = number
        state.operations[number] = operation
      }
      guard let number = state.numbers[ObjectIdentifier(operation)] else { return (Reply(), []) }
      // A thread that makes it unready changes the status and then takes this lock to let it stand
      // back. So either the change is seen here, or the operation has started before the change.
      guard status.isEligible else {
        return (Reply(answer: .refused), state.lines.standBack(number).invited)
      }
      // The priority is read under this lock, because a thread that changes it acquires the lock
      // afterwards.
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

  /// Ends a reservation after its time, unless it ends before.
  private func limit(_ reservation: ExclusionLines.Reservation) {
    let end = csystem_monotonic_nanoseconds() + reservation.nanoseconds * timeScale
    let timerEnd = state.withLock { state -> Int64? in
      // Another thread may have ended the reservation meanwhile.
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

  /// Sets the timer, outside the lock. If two threads set the timer, the thread that reads the
  /// state last also finds the other thread's time, if it is the current one.
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

  /// Removes an operation that has not started from its line, because it is no longer ready or has
  /// another priority. It asks again when it is chosen.
  ///
  /// - Parameters:
  ///   - operation: The operation. It need not have requested its exclusions.
  ///   - isReady: Whether its queue should choose it again, if it had a place in a line.
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
    /// The operations for which the exclusion is reserved. A reservation applies to the part of the
    /// limit that no operation holds.
    let reservers: [Operation]
    /// Whether no operation can get the exclusion before a holder has finished.
    let isHeld: Bool
  }

  /// Returns the reason why an operation cannot get the exclusion that it waits for; `nil` unless
  /// the operation has a place in a line.
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

  /// Changes the lines, and lets the queues of the invited members choose them again.
  ///
  /// - Parameters:
  ///   - wakes: Whether threads that give way ask again after this result.
  ///   - body: Makes the change. Returns the result and the invited members.
  /// - Returns: The result of `body`.
  private func change<Result>(
    wakes: (Result) -> Bool = { _ in true },
    _ body: (inout State) -> (Result, [ExclusionLines.Number])
  ) -> Result {
    let (result, invited, givesWay) = state.withLock { state in
      let (result, numbers) = body(&state)
      // The operations are not retained, because a reference that this thread released at the end
      // could be the last one, although the thread may hold a lock of the user. An operation that
      // has claimed a push stays in its queue until then.
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
