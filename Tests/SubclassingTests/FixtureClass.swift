// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport

/// The classes that are tested in each situation.
enum FixtureClass: String, CaseIterable, Sendable {
  case sampleAsynchronous, sampleSynchronous, state, derivedState, widened, gazelle, ownCancelFlag
  case plainLock, superStarting

  /// Whether its `cancel()` finishes it, even if it was not started.
  var finishesOnCancel: Bool { self == .sampleAsynchronous }

  /// Whether the base class does not know that it was cancelled, so that its `main()` runs.
  var runsWhenCancelled: Bool { self == .ownCancelFlag }

  /// Whether its flags can be read while it announces their changes, which observers of old values
  /// need.
  var canBeObserved: Bool { self != .plainLock }

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

/// A class with a hook for its work and one before its `start()`.
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
