// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// What the operations of one run of a program have to say, and what they wait for.
///
/// Bodies report that they have begun and wait to be let go; whatever is destroyed reports that.
final class Reports: Sendable {
  /// What is known of one operation.
  struct Entry {
    var beginCount = 0
    /// Bodies that have returned, asynchronous ones that are about to say that they have finished.
    var endCount = 0
    var completionCount = 0
    /// How many threads have come back from `waitUntilFinished()`.
    var returnedCount = 0
    var isReleased = false
    /// What observers were told of each flag, in order.
    var told = ToldFlags()
    var isDestroyed = false
    var isCaptureDestroyed = false
    /// The queue that it was, or is being, added to.
    var queue: Int?
    var isStartedByHand = false
    /// Whether it may end without having run: it was cancelled, or finished before its start.
    var mayNotRun = false
    /// What must be over when it begins, unless this one may begin at any time: `mayNotRun`.
    var predecessors: [Int] = []
    /// Kept alive by the work that it has under way, as it would be by a closure somewhere.
    var underWay: (any SteeredByProgram)?

    var isRunning: Bool { beginCount > endCount }
    /// Whether it runs and nothing but the program can end that.
    var isHeldOpen: Bool { isRunning && !isReleased }
  }

  struct State {
    var entries: [Entry]
    var isQueueDestroyed: [Bool]
    /// How many threads have come back from `waitUntilAllOperationsAreFinished()`.
    var returnedFromQueueCount: [Int]
    /// How many operations run at present, and ran at most, for each queue.
    var runningCount: [Int]
    var highestRunningCount: [Int]
    /// How many calls of `start()` by hand have not returned.
    var startingCount = 0
    var endsByItself = false
    var violations: [String] = []

    /// An operation begins: what had to end before it must have.
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

  init(operationCount: Int, queueCount: Int) {
    state = Monitored(
      State(
        entries: Array(repeating: Entry(), count: operationCount),
        isQueueDestroyed: Array(repeating: false, count: queueCount),
        returnedFromQueueCount: Array(repeating: 0, count: queueCount),
        runningCount: Array(repeating: 0, count: queueCount),
        highestRunningCount: Array(repeating: 0, count: queueCount)))
  }

  /// What is known now.
  var snapshot: State { state.value }

  /// Notes something. Must only move values; what it takes out it returns, to be released outside.
  @discardableResult
  func note<Result>(_ body: (inout State) -> Result) -> Result { state.change(body) }

  func note(violation: String) { note { $0.violations.append(violation) } }

  // MARK: Bodies

  /// The body of a synchronous operation: returns when the program lets it.
  func runBody(of index: Int) {
    begin(index)
    state.wait(for: "the program to let a body return", limit: Self.bodyLimit) {
      $0.endsByItself || $0.entries[index].isReleased
    }
    end(index)
  }

  /// Longer than any program; who is stuck so long is abandoned.
  private static let bodyLimit = 600

  /// An operation has begun.
  ///
  /// - Parameters:
  ///   - index: Which one.
  ///   - operation: The operation, where it has to be told to finish.
  /// - Returns: Whether that is up to itself.
  @discardableResult
  func begin(_ index: Int, keeping operation: (any SteeredByProgram)? = nil) -> Bool {
    note { state in
      state.noteOverlaps(of: index)
      state.entries[index].beginCount += 1
      if let queue = state.entries[index].queue {
        state.runningCount[queue] += 1
        state.highestRunningCount[queue] = max(
          state.highestRunningCount[queue], state.runningCount[queue])
      }
      if !state.endsByItself { state.entries[index].underWay = operation }
      return state.endsByItself
    }
  }

  /// It is about to finish.
  func end(_ index: Int) {
    let ended = note { state in
      state.entries[index].endCount += 1
      if let queue = state.entries[index].queue { state.runningCount[queue] -= 1 }
      return state.entries[index].underWay.take()
    }
    withExtendedLifetime(ended) {}
  }

  /// Everything ends by itself from now on.
  ///
  /// - Returns: What is under way and does not.
  func letEverythingEnd() -> [any SteeredByProgram] {
    note { state in
      state.endsByItself = true
      return state.entries.compactMap(\.underWay)
    }
  }
}
