// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  /// The changes to apply to a `Progress`. One thread at a time applies the changes, without holding a lock.
  /// If no thread applies changes, the thread that adds a change applies changes until none are left,
  /// including changes that other threads add in between.
  ///
  /// While changes are applied, this value also contains the resulting counts, for readers.
  struct ProgressUpdates {
    /// Changes of a progress that are applied together: first the total, then the count that was set, then
    /// the number of finished operations.
    struct Step: Equatable {
      var total: Int64?
      var completed: Int64?
      var finished: Int64 = 0
    }

    /// The counts of a progress: the total number of units and the number of completed units.
    struct Counts: Equatable {
      var total: Int64
      var completed: Int64
    }

    private var pending = Step()
    /// The counts after all changes are applied; `nil` if no thread applies changes. In that case the
    /// progress itself contains the counts.
    private(set) var counts: Counts?

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - step: The change.
    ///   - current: The present counts of the progress. The argument is not evaluated while changes are
    ///     applied.
    /// - Returns: Whether the caller must apply the steps that ``takeStep()`` returns, until it returns
    ///   `nil`.
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
        // The operations that finished before the caller set a new count belong to the old count, which the
        // new count replaces.
        pending.finished = 0
      }
      counts.completed += step.finished
      pending.finished += step.finished
      self.counts = counts
      return mustApply
    }

    /// Removes and returns the changes that must be applied next; `nil` if there are none. After `nil`, the
    /// thread that adds the next change must apply that change.
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
