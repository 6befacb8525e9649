// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of an operation, as a monitor shows it. An operation is in exactly one state.
///
/// The raw value is the word for the state in JSON and in filters.
public enum OperationState: String, Codable, Sendable, CaseIterable {
  /// The operation is not ready. A dependency has not finished, or the operation's own `isReady` is
  /// `false`.
  case waiting
  /// The operation is ready and waits for a free slot of its queue.
  case ready
  /// The operation is ready, but its queue is suspended. The number of ready operations includes
  /// held operations.
  case held
  /// The operation has started and has not finished.
  case executing
  /// The operation was cancelled and has not finished. If it has started, the counts include it as
  /// executing. Otherwise the counts include it as ready, because a cancelled operation does not
  /// wait for its dependencies.
  case cancelling
  /// The operation has finished without an error and was not cancelled.
  case finished
  /// The operation has finished with an error and was not cancelled. The number of finished operations
  /// includes failed operations.
  case failed
  /// The operation has finished and was cancelled before.
  case cancelled

  /// Whether the operation is finished, failed or cancelled.
  public var isOver: Bool { self == .finished || self == .failed || self == .cancelled }

  /// The words for states in filters and options, each with the states that it means. `finished` also
  /// means failed operations, and `succeeded` does not.
  package static let words: [(word: String, states: Set<OperationState>)] =
    allCases.map { ($0.rawValue, $0 == .finished ? [.finished, .failed] : [$0]) }
    + [("succeeded", [.finished])]
}
