// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationSupplement where Self: Operation {
  /// The categories in which this operation excludes others: of each, only so many execute at the
  /// same time as its limit says, in whatever queues they are. Empty by default.
  ///
  /// They are asked for when the queue has chosen the operation to be started: after its dependencies,
  /// and with a slot free. It gets them one after the other, in the order of their names. Where others
  /// have one of them, it gives the slot back and waits for that, behind those that came before, and
  /// keeps what it has; its queue goes on with others. Once it has all it keeps them until it has
  /// finished, in whatever way, though its queue be suspended or its slots be taken before it starts.
  /// Cancelled while it waits, it finishes without them.
  ///
  /// As everybody follows the same order, exclusion alone never makes operations wait in a circle. An
  /// operation that waits, in its own code or as a group, for another one that excludes some should
  /// only wait for categories whose names come after those that it has itself.
  ///
  /// Set it before the operation is ready. Once the queue has asked it cannot be changed: what is set is
  /// ignored. An operation that is started by hand excludes nobody and is not excluded.
  public var exclusions: Set<ExclusionCategory> {
    get { withRare { $0?.exclusions ?? [] } }
    set {
      makeRare { rare in
        // While it waits for its turn it is not chosen, and yet was asked.
        guard update({ $0.excludeOthers() }), !Exclusions.shared.hasJoined(self) else { return }
        rare.exclusions = newValue
      }
    }
  }
}

extension Operation {
  /// Whether those that it excludes let it start now. Else it has a place in line.
  @inline(never)
  final func hasItsTurn() -> Bool {
    let categories = withRare { $0?.exclusions ?? [] }
    // The flag first: with it set before the finish, the finisher looks for it.
    guard !categories.isEmpty, update({ $0.promise(.hasFinishDuties) }) else { return true }
    return Exclusions.shared.admit(self, categories)
  }
}
