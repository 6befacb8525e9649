// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationReport {
  /// What cancelled an operation.
  public enum CancellationCause: Sendable, Equatable {
    /// Code of the process. The reason is the text of the error that the code has given, unsanitised and
    /// at most 1 KiB of UTF-8; `nil` if the code has given none.
    case code(reason: String?)
    /// This dependency, whose success the operation required, failed or was cancelled. If it was
    /// cancelled, its own cause leads to the origin.
    case dependency(ID)
    /// The operation that contains this one was cancelled: its group, its retry or its timeout.
    case container(ID)
    /// The time limit of this operation has passed.
    case timeout(ID)
    /// The time limit of an unknown operation has passed.
    case timeLimit
    /// All operations of this queue were cancelled at once. The reason is as for ``code(reason:)``.
    case queue(QueueReport.ID, reason: String?)
    /// A viewer sent a command to cancel the operation.
    case viewer(CommandOrigin)

    /// The text of the reason that code has given; `nil` if there is none.
    public var reason: String? {
      switch self {
      case .code(let reason), .queue(_, let reason): reason
      case .dependency, .container, .timeout, .timeLimit, .viewer: nil
      }
    }

    /// The operation that the cause names; `nil` if the cause is no operation.
    package var operation: ID? {
      switch self {
      case .dependency(let id), .container(let id), .timeout(let id): id
      case .code, .timeLimit, .queue, .viewer: nil
      }
    }

    /// Returns the cause with other ids; `nil` if an id has no other id.
    package func translated(
      operation: (ID) -> ID?, queue: (QueueReport.ID) -> QueueReport.ID?
    ) -> Self? {
      switch self {
      case .dependency(let id): operation(id).map { .dependency($0) }
      case .container(let id): operation(id).map { .container($0) }
      case .timeout(let id): operation(id).map { .timeout($0) }
      case .queue(let id, let reason): queue(id).map { .queue($0, reason: reason) }
      case .code, .timeLimit, .viewer: self
      }
    }
  }

  /// Whether the operation was cancelled, so that its cancellation may have a cause.
  var mayHaveCancellationCause: Bool { state == .cancelling || state == .cancelled }

  /// The maximum number of operations that an update adds because they explain the cancellations of
  /// operations that the viewer has not selected.
  private static let causeLimit = 1_000

  /// Adds the operations that explain the cancellations of requested operations: the operation that a cause
  /// names, the operation that the cause of this one names, and so on.
  ///
  /// The detail and the roots of the interest's graphs are the operations that the viewer has selected. Their
  /// paths have at most ``WireLimits/mostGraphOperations`` operations together. For the other requested
  /// operations, this method adds at most 1,000 operations, and begins with the smallest ids.
  ///
  /// - Parameters:
  ///   - wanted: The requested operations.
  ///   - interest: The viewer's interest.
  ///   - cause: Returns the operation that the cause of an operation names. The outer optional value is `nil`
  ///     if the operation is not known.
  package static func addCauses(
    to wanted: inout Set<ID>, for interest: Interest, _ cause: (ID) -> ID??
  ) {
    let requested = wanted.sorted()
    var steps = WireLimits.mostGraphOperations
    let selected = Set(interest.graphs.map(\.root) + [interest.detail].compactMap { $0 })
    for id in selected.sorted() {
      var next = cause(id) ?? nil
      while steps > 0, let id = next, let following = cause(id) {
        wanted.insert(id)
        steps -= 1
        next = following
      }
    }
    var room = causeLimit
    for id in requested where room > 0 {
      var next = cause(id) ?? nil
      while room > 0, let id = next, !wanted.contains(id), let following = cause(id) {
        wanted.insert(id)
        room -= 1
        next = following
      }
    }
  }
}
