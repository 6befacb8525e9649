// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  /// What is to be done to a `Progress`, so that one thread at a time does it and no lock is held
  /// meanwhile: whoever finds that nobody applies changes does so until there are none left, his own
  /// and those that come from other threads in between.
  ///
  /// While changes are applied it also knows what the counts are to be, for those who read them.
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
    /// What the counts are once all is applied; `nil` while nobody applies anything, when the
    /// progress itself knows.
    private(set) var counts: Counts?

    /// Takes note of a change.
    ///
    /// - Parameters:
    ///   - step: The change.
    ///   - current: The counts of the progress as it is now. Not asked for while changes are applied.
    /// - Returns: Whether the caller has to apply what there is, until ``takeStep()`` gives `nil`.
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
        // They came before, and so are replaced too.
        pending.finished = 0
      }
      counts.completed += step.finished
      pending.finished += step.finished
      self.counts = counts
      return mustApply
    }

    /// What to apply next; `nil` where there is nothing, and the next change finds nobody at work.
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
