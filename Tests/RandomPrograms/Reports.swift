// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// The reports of the operations in one run of a program, and the events that they wait for.
///
/// Bodies report that they have begun and wait until they are released. Destroyed objects report
/// that too.
final class Reports: Sendable {
  /// The data about one operation.
  struct Entry {
    var beginCount = 0
    /// The number of bodies that have returned, and of asynchronous operations that are about to
    /// announce their finish.
    var endCount = 0
    var completionCount = 0
    /// The number of threads that have returned from `waitUntilFinished()`.
    var returnedCount = 0
    var isReleased = false
    /// The new values of each flag in notifications of observers, in order.
    var told = ToldFlags()
    var isDestroyed = false
    var isCaptureDestroyed = false
    /// The queue that it was added to, or is being added to.
    var queue: Int?
    var isStartedByHand = false
    /// Whether the operation may end without having run, because it was cancelled or finished
    /// before its start.
    var mayNotRun = false
    /// The operations that must have finished when it begins, unless it may begin at any time:
    /// `mayNotRun`.
    var predecessors: [Int] = []
    /// The dependencies whose success the operation requires during the whole program.
    var required: [Int] = []
    /// The exclusions of the operation.
    var exclusions: [Int] = []
    /// The reference of the pending work, which keeps the operation alive as a closure would.
    var underWay: (any SteeredByProgram)?

    var isRunning: Bool { beginCount > endCount }
    /// Whether the operation executes until the program releases it.
    var isHeldOpen: Bool { isRunning && !isReleased }
  }

  struct State {
    var entries: [Entry]
    var isQueueDestroyed: [Bool]
    /// The number of threads that have returned from `waitUntilAllOperationsAreFinished()`.
    var returnedFromQueueCount: [Int]
    /// For each queue, the current and the maximum number of executing operations.
    var runningCount: [Int]
    var highestRunningCount: [Int]
    /// The number of direct calls of `start()` that have not returned.
    var startingCount = 0
    var endsByItself = false
    var violations: [String] = []

    /// Records a violation if more operations hold an exclusion than its limit allows. An operation that
    /// was started by hand does not count.
    fileprivate mutating func noteExclusions(of index: Int) {
      guard entries[index].queue != nil else { return }
      for exclusion in entries[index].exclusions {
        let count = entries.count {
          $0.queue != nil && $0.isRunning && $0.exclusions.contains(exclusion)
        }
        if count <= Program.exclusionLimits[exclusion] { continue }
        violations.append("\(count) operations run with \(Program.name(ofExclusion: exclusion))")
      }
    }

    /// Records the predecessors of an operation that have not ended when it begins.
    fileprivate mutating func noteOverlaps(of index: Int) {
      if entries[index].mayNotRun { return }
      for other in entries[index].predecessors {
        let entry = entries[other]
        let isOver = entry.beginCount > 0 ? !entry.isRunning : entry.mayNotRun
        if isOver { continue }
        let names = [index, other].map(Program.name(ofOperation:))
        violations.append("\(names[0]) begins before \(names[1]) is over")
      }
    }
  }

  private let state: Monitored<State>

  /// - Parameters:
  ///   - exclusions: The exclusions of each operation.
  ///   - queueCount: The number of queues.
  init(exclusions: [[Int]], queueCount: Int) {
    state = Monitored(
      State(
        entries: exclusions.map { Entry(exclusions: $0) },
        isQueueDestroyed: Array(repeating: false, count: queueCount),
        returnedFromQueueCount: Array(repeating: 0, count: queueCount),
        runningCount: Array(repeating: 0, count: queueCount),
        highestRunningCount: Array(repeating: 0, count: queueCount)))
  }

  /// The current state.
  var snapshot: State { state.value }

  /// Records an event. The closure must only move values. It returns removed values, which are
  /// released outside.
  @discardableResult
  func note<Result>(_ body: (inout State) -> Result) -> Result { state.change(body) }

  func note(violation: String) { note { $0.violations.append(violation) } }

  // MARK: Bodies

  /// Runs the body of a synchronous operation, which returns when the program releases it.
  func runBody(of index: Int) {
    begin(index)
    state.wait(for: "the program to let a body return", limit: Self.bodyLimit) {
      $0.endsByItself || $0.entries[index].isReleased
    }
    end(index)
  }

  /// Longer than any program. A body that is blocked for longer is abandoned.
  private static let bodyLimit = 600

  /// Records that an operation has begun.
  ///
  /// - Parameters:
  ///   - index: The index of the operation.
  ///   - operation: The operation, if the program must finish it.
  /// - Returns: Whether the operation ends on its own.
  @discardableResult
  func begin(_ index: Int, keeping operation: (any SteeredByProgram)? = nil) -> Bool {
    note { state in
      state.noteOverlaps(of: index)
      state.entries[index].beginCount += 1
      state.noteExclusions(of: index)
      if let queue = state.entries[index].queue {
        state.runningCount[queue] += 1
        state.highestRunningCount[queue] = max(
          state.highestRunningCount[queue], state.runningCount[queue])
      }
      if !state.endsByItself { state.entries[index].underWay = operation }
      return state.endsByItself
    }
  }

  /// Records that an operation is about to finish.
  func end(_ index: Int) {
    let ended = note { state in
      state.entries[index].endCount += 1
      if let queue = state.entries[index].queue { state.runningCount[queue] -= 1 }
      return state.entries[index].underWay.take()
    }
    withExtendedLifetime(ended) {}
  }

  /// Makes all operations end on their own from now on.
  ///
  /// - Returns: The executing operations that do not.
  func letEverythingEnd() -> [any SteeredByProgram] {
    note { state in
      state.endsByItself = true
      return state.entries.compactMap(\.underWay)
    }
  }
}
