// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The importance of work to the user. On Linux most values are advisory: they are stored and reported,
/// but not applied. A queue whose quality of service is ``background`` runs its operations on threads of
/// low scheduling priority; see <doc:PrioritiesAndWidths>.
///
/// A quality of service never changes the order in which a queue starts its operations. Use
/// ``Operation/queuePriority`` for that. The quality of service of an operation is not applied to a
/// thread: without privileges a thread can lower its priority but not raise it again, and the threads
/// of a queue continue with other operations. Work that depends on it can read ``current``.
///
/// The raw values are the same as those of Foundation on Apple platforms. Foundation on Linux has
/// different raw values.
public enum QualityOfService: Int, Sendable, CaseIterable {
  /// Work that the user is waiting for.
  case userInteractive = 0x21
  /// Work that the user asked for.
  case userInitiated = 0x19
  /// Work that the user is aware of.
  case utility = 0x11
  /// Work that the user is not aware of.
  case background = 0x09
  /// No quality of service was set; the default.
  case `default` = -1

  /// The quality of service of the work on the calling thread.
  ///
  /// Inside an operation, also in the work of an ``AsyncOperation``, the value is the operation's own
  /// quality of service. If the operation has
  /// none, the value is the quality of service of its queue. If the operation was started directly
  /// inside another operation, the queue of the other operation is used. The value is `.default` if
  /// no quality of service is set, and outside operations.
  public static var current: QualityOfService {
    guard let operation = CurrentWork.operation ?? CurrentWork.operationOfTask else {
      return .default
    }
    let own = operation.qualityOfService
    return own == .default ? OperationQueue.currentQueue?.qualityOfService ?? .default : own
  }
}
