// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

// The library's public members that Foundation does not have are declared in extensions of
// `OperationSupplement` and `OperationQueueSupplement`.

/// The members of ``Operation`` that Foundation's class of that name does not have.
///
/// Subclasses for Foundation often have their own member with one of these names, such as `state`,
/// `id` or `error`. They compile without `override`, because these members are in a protocol
/// extension. The library never reads the subclass's member. To read the library's member of such
/// an operation, use its base class: `(operation as Operation).id`.
///
/// Only ``Operation`` conforms to this protocol.
public protocol OperationSupplement: AnyObject {}

extension Operation: OperationSupplement {}

extension OperationSupplement where Self: Operation {
  /// Identifies the operation by the number that `opq-top` shows. The number is assigned when this
  /// property is first read.
  public var id: OperationID {
    if let known = rare?.identifier.load(ordering: .relaxed), known != 0 {
      return OperationID(rawValue: known)
    }
    return makeRare { rare in
      let known = rare.identifier.load(ordering: .relaxed)
      if known != 0 { return OperationID(rawValue: known) }
      let fresh = OperationID.next()
      rare.identifier.store(fresh.rawValue, ordering: .relaxed)
      return fresh
    }
  }

  /// What the operation does, as one or two words; the name of its class by default.
  ///
  /// Set a kind if the name of the class says too little, as `AsyncOperation<String>` does. Operations
  /// that do the same work should have the same kind, and a ``Operation/name`` of their own. `opq-top`
  /// and the telemetry combine the operations of one kind in statistics, warnings, reports and
  /// metrics. The number of kinds with their own statistics is limited, so do not use an id or a name
  /// as a kind. Viewers receive at most 4 KiB of the text.
  ///
  /// The property can be set at any time on any thread. After an empty text is set, the kind is the
  /// name of the class again.
  public var kind: String {
    get { givenKind ?? String(describing: type(of: self as Operation)) }
    set {
      let kind = newValue.isEmpty ? nil : newValue
      if kind == givenKind { return }
      makeRare { $0.kind = kind }
      noteDescriptionChanged()
    }
  }

  /// The state of the operation: waiting, ready, executing or finished. As soon as a queue has
  /// chosen the operation to be started, the state is ``OperationState/executing``.
  public var state: OperationState { status.load(ordering: .acquiring).state }

  /// Calls ``Operation/start()``, but throws a refusal instead of trapping.
  ///
  /// Mistakes inside ``Operation/main()`` and in observers are not thrown. They are reported as
  /// usual.
  ///
  /// - Throws: The reason why the operation was not started. The operation is then unchanged.
  public func tryStart() throws(OperationMisuse) {
    try MisuseScope.run(throwing: MisuseScope.refusalsToStart) { start() }
  }
}

/// The state of an operation. An operation has exactly one state at a time.
///
/// The four flags of ``Operation`` can be `true` at the same time: `isReady` stays `true` after the
/// start, and `isCancelled` can be `true` together with any other flag.
public enum OperationState: Sendable, Hashable, CaseIterable {
  /// The operation is not ready, because dependencies are unmet or a subclass's `isReady` is
  /// `false`.
  case waiting
  /// The operation is ready and was not started.
  case ready
  /// The operation was started, or its queue has chosen it to be started now.
  case executing
  /// The operation has finished.
  case finished
}
