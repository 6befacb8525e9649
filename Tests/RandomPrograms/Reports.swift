// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Collects the reports of the operations in one run of a random program, and makes operations wait
/// for the program.
///
/// An operation reports that it has begun, and waits until a step of the program releases it.
/// Operations and queues also report their deallocation.
final class Reports: Sendable {
  /// The reports of one operation.
  struct Entry {
    var beginCount = 0
    /// How often the operation's work has returned. An asynchronous operation is counted shortly
    /// before it announces its finish.
    var endCount = 0
    var completionCount = 0
    /// The number of threads that have returned from `waitUntilFinished()`.
    var returnedCount = 0
    var isReleased = false
    /// For each flag, the new values that observers have received, in order.
    var reported = ReportedFlags()
    var isDestroyed = false
    var isCaptureDestroyed = false
    /// The queue to which the operation was added or is being added.
    var queue: Int?
    var isStartedByHand = false
    /// Whether the operation may end without having run, because it was cancelled or finished
    /// before its start.
    var mayNotRun = false
    /// The operations that must have finished when this operation begins. If `mayNotRun` is `true`,
    /// the operation may begin at any time.
    var predecessors: [Int] = []
    /// The dependencies whose success the operation has required since the beginning of the
    /// program.
    var required: [Int] = []
    /// The mutual exclusions of the operation.
    var exclusions: [Int] = []
    /// Whether the operation's own condition permits its start. If the condition becomes `false` after the
    /// queue has chosen the operation, this stays `true`, because the queue may have read the condition.
    var isAllowed = true
    /// A reference to the operation while its asynchronous work is pending. It keeps the operation
    /// alive, as a closure for the work would.
    var underWay: (any SteeredByProgram)?
    /// Whether the operation is counted in `runningCount`.
    var isCounted = false

    var isRunning: Bool { beginCount > endCount }
    /// Whether the operation executes and waits for a step of the program to release it.
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
    /// The number of direct calls of `start()` that have not yet returned.
    var startingCount = 0
    var endsByItself = false
    var violations: [String] = []

    /// Records a violation if more operations hold a mutual exclusion than the limit of the
    /// exclusion allows. Only operations in queues count.
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

    /// Records a violation if an operation begins although its own condition was `false` when the queue
    /// read it for the last time. [DE-18]
    fileprivate mutating func noteCondition(of index: Int) {
      if entries[index].isAllowed { return }
      violations.append(
        "\(Program.name(ofOperation: index)) begins although its own condition is false")
    }

    /// Records a violation for each operation that must have finished when another operation
    /// begins, and has not.
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

  /// Creates reports for a program.
  ///
  /// - Parameters:
  ///   - exclusions: The mutual exclusions of each operation.
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

  /// The reports that have been recorded so far.
  var snapshot: State { state.value }

  /// Records an event. The closure runs under a lock, so it must not release objects. It returns
  /// the objects to be released after the lock is released.
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

  /// The maximum time in seconds for which an operation blocks. It is longer than any program
  /// takes.
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
      state.noteCondition(of: index)
      state.entries[index].beginCount += 1
      state.noteExclusions(of: index)
      // A step can finish an operation while its queue starts it. The operation then begins after it has finished, and
      // holds no slot.
      if let queue = state.entries[index].queue, !state.entries[index].mayNotRun {
        state.entries[index].isCounted = true
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
      if let queue = state.entries[index].queue, state.entries[index].isCounted {
        state.entries[index].isCounted = false
        state.runningCount[queue] -= 1
      }
      return state.entries[index].underWay.take()
    }
    withExtendedLifetime(ended) {}
  }

  /// From now on, lets each operation finish without waiting for the step of the
  /// random program that finishes it.
  ///
  /// - Returns: The executing asynchronous operations, which the caller must finish.
  func letEverythingEnd() -> [any SteeredByProgram] {
    note { state in
      state.endsByItself = true
      return state.entries.compactMap(\.underWay)
    }
  }
}
