// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport

/// The subclasses of `Operation` that are tested in each situation.
enum FixtureClass: String, CaseIterable, Sendable {
  case sampleAsynchronous, sampleSynchronous, state, derivedState, widened, gazelle, ownCancelFlag
  case plainLock, superStarting

  /// Whether the subclass's `cancel()` finishes the operation, even if the operation was not
  /// started.
  var finishesOnCancel: Bool { self == .sampleAsynchronous }

  /// Whether `main()` runs although the operation was cancelled, because `cancel()` does not call
  /// `super`.
  var runsWhenCancelled: Bool { self == .ownCancelFlag }

  /// Whether the operation's flags can be read while the operation announces a change. Observers
  /// that request old values read the flags then.
  var canBeObserved: Bool { self != .plainLock }

  /// Creates an operation of the subclass.
  ///
  /// - Parameters:
  ///   - atStart: Called at the beginning of `start()`.
  ///   - work: The work of the operation.
  /// - Returns: A new operation.
  func make(
    atStart: @escaping @Sendable () -> Void, work: @escaping @Sendable () -> Void
  ) -> Operation {
    let operation: any Playable =
      switch self {
      case .sampleAsynchronous: PlayableAsyncOperation()
      case .sampleSynchronous: PlayableSyncOperation()
      case .state: PlayableStateOperation()
      case .derivedState: PlayableDerivedStateOperation()
      case .widened: PlayableWidenedOperation()
      case .gazelle: PlayableGazelleOperation()
      case .ownCancelFlag: PlayableOwnCancelFlagOperation()
      case .plainLock: PlayablePlainLockOperation()
      case .superStarting: PlayableSuperStartingOperation()
      }
    operation.atStart = atStart
    operation.work = work
    return operation
  }
}

/// An operation with two closures: one runs at the beginning of `start()`, and the other is its
/// work.
private protocol Playable: Operation {
  var atStart: @Sendable () -> Void { get set }
  var work: @Sendable () -> Void { get set }
}

private final class PlayableAsyncOperation: MyAsyncOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableSyncOperation: MySyncOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableStateOperation: StateOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableWidenedOperation: WidenedOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableGazelleOperation: GazelleOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableSuperStartingOperation: SuperStartingOperation, Playable,
  @unchecked Sendable
{
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableDerivedStateOperation: DerivedStateOperation, Playable,
  @unchecked Sendable
{
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayableOwnCancelFlagOperation: OwnCancelFlagOperation, Playable,
  @unchecked Sendable
{
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}

private final class PlayablePlainLockOperation: PlainLockOperation, Playable, @unchecked Sendable {
  var atStart: @Sendable () -> Void = {}
  override func start() {
    atStart()
    super.start()
  }
}
