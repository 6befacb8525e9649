// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The importance of work to the user. Advisory on Linux: it is stored and reported.
///
/// It never changes the order in which a queue starts its operations. Use
/// ``Operation/queuePriority`` for that. It is not applied to a thread either: without privileges a
/// thread can lower its priority but not raise it again, and the threads of a queue continue with
/// other operations. Work that depends on it can read ``current``.
///
/// The raw values are those of Foundation on Apple platforms. Foundation on Linux has others.
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
  /// Inside an operation, it is the operation's own, or its queue's if the operation has none. If
  /// the operation was started directly inside another one, it is that operation's queue's.
  /// `.default` if none is set, and outside operations.
  public static var current: QualityOfService {
    guard let operation = CurrentWork.operation else { return .default }
    let own = operation.qualityOfService
    return own == .default ? OperationQueue.currentQueue?.qualityOfService ?? .default : own
  }
}
