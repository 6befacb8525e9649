// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore

/// What happens once while a command runs, and the tasks that wait for it.
final class CommandEvents: Sendable {
  /// An event.
  enum Event: Hashable {
    /// The operation was cancelled.
    case stop
    /// The grace period has ended early, or ends as soon as it begins.
    case graceEnd
    /// The first process of the command has ended, or a ``DescriptorWatch`` was ended.
    case end
  }

  private struct Wait {
    let events: Set<Event>
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var happened: Set<Event> = []
    var waits: [Int: Wait] = [:]
    var lastWait = 0
  }

  private let state = Locked(State())

  /// Returns whether an event has happened.
  func has(_ event: Event) -> Bool { state.withLock { $0.happened.contains(event) } }

  /// Wakes the tasks that wait for an event. A second call for the same event does nothing.
  func note(_ event: Event) {
    let woken = state.withLock { state in
      state.happened.insert(event)
      let woken = state.waits.filter { $0.value.events.contains(event) }
      for number in woken.keys { state.waits[number] = nil }
      return woken
    }
    for wait in woken.values { wait.continuation.resume() }
  }

  /// Waits until one of several events has happened, or until the time has passed. The cancellation of the task does not
  /// end the wait.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - limit: The maximum time; `nil` for no limit. More than 100 years counts as 100 years.
  func wait(for events: Set<Event>, atMost limit: Duration? = nil) async {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if !state.happened.isDisjoint(with: events) { return nil }
        state.lastWait += 1
        state.waits[state.lastWait] = Wait(events: events, continuation: continuation)
        return state.lastWait
      }
      guard let number else { return continuation.resume() }
      guard let limit else { return }
      let seconds = min(max(limit, .zero), .seconds(100 * 365 * 86_400)).components
      let time = DispatchTime.now() + .seconds(Int(seconds.seconds))
      let nanoseconds = DispatchTimeInterval.nanoseconds(
        Int(seconds.attoseconds / 1_000_000_000))
      DispatchQueue.global().asyncAfter(deadline: time + nanoseconds) { [weak self] in
        self?.endWait(number)
      }
    }
  }

  private func endWait(_ number: Int) {
    state.withLock { $0.waits.removeValue(forKey: number) }?.continuation.resume()
  }
}
