// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  /// The changes to apply to a `Progress`. One thread at a time applies them, and no lock is held meanwhile:
  /// if no thread applies changes, the thread that adds one applies changes until none are left, including
  /// those that other threads add in between.
  ///
  /// While changes are applied this value also has the resulting counts, for readers.
  struct ProgressUpdates {
    /// Changes to apply as one: first the total, then the count that was set, then what has finished.
    struct Step: Equatable {
      var total: Int64?
      var completed: Int64?
      var finished: Int64 = 0
    }

    /// The two counts.
    struct Counts: Equatable {
      var total: Int64
      var completed: Int64
    }

    private var pending = Step()
    /// The counts after all changes are applied; `nil` while no thread applies changes, when the progress
    /// itself has the counts.
    private(set) var counts: Counts?

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - step: The change.
    ///   - current: The present counts of the progress. Not evaluated while changes are applied.
    /// - Returns: Whether the caller has to apply the changes, until ``takeStep()`` returns `nil`.
    mutating func add(_ step: Step, to current: @autoclosure () -> Counts) -> Bool {
      let mustApply = counts == nil
      var counts = counts ?? current()
      if let total = step.total {
        counts.total = total
        pending.total = total
      }
      if let completed = step.completed {
        counts.completed = completed
        pending.completed = completed
        // These changes came before, and so are replaced too.
        pending.finished = 0
      }
      counts.completed += step.finished
      pending.finished += step.finished
      self.counts = counts
      return mustApply
    }

    /// Returns the next step to apply, or `nil` if there is none; the next change then starts another round.
    mutating func takeStep() -> Step? {
      if pending == Step() {
        counts = nil
        return nil
      }
      defer { pending = Step() }
      return pending
    }
  }
#endif
