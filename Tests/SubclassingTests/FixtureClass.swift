// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport

/// The classes that play each situation.
enum FixtureClass: String, CaseIterable, Sendable {
  case sampleAsynchronous, sampleSynchronous, state, widened, gazelle, superStarting

  /// Whether its `cancel()` finishes it, started or not.
  var finishesOnCancel: Bool { self == .sampleAsynchronous }

  /// - Parameters:
  ///   - atStart: Is called when `start()` is, before anything else.
  ///   - work: What the operation does.
  /// - Returns: A new one.
  func make(
    atStart: @escaping @Sendable () -> Void, work: @escaping @Sendable () -> Void
  ) -> Operation {
    let operation: any Playable =
      switch self {
      case .sampleAsynchronous: PlayableAsyncOperation()
      case .sampleSynchronous: PlayableSyncOperation()
      case .state: PlayableStateOperation()
      case .widened: PlayableWidenedOperation()
      case .gazelle: PlayableGazelleOperation()
      case .superStarting: PlayableSuperStartingOperation()
      }
    operation.atStart = atStart
    operation.work = work
    return operation
  }
}

/// A class with a hook for its work, and one before its `start()`.
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
