// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationSupplement where Self: Operation {
  /// The categories in which this operation excludes others: of each, only so many execute at the
  /// same time as its limit says, in whatever queues they are. Empty by default.
  ///
  /// They are asked for all at once, when the queue has chosen the operation to be started: after its
  /// dependencies, and with a slot free. Where another operation has one of them, this one gives the
  /// slot back and waits, in the order in which they came; its queue goes on with others. It keeps
  /// them from then on until it has finished, in whatever way, though its queue be suspended or its
  /// slots be taken before it starts. Cancelled while it waits, it finishes without them.
  ///
  /// Set it before the operation is ready: once the queue has asked, what is set makes no difference.
  /// An operation that is started by hand excludes nobody and is not excluded.
  public var exclusions: Set<ExclusionCategory> {
    get { withRare { $0?.exclusions ?? [] } }
    set {
      makeRare { rare in
        if update({ $0.excludeOthers() }) { rare.exclusions = newValue }
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
