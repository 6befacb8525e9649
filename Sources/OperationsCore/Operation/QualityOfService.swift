// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How important work is to the user. Advisory on Linux: it is stored and reported.
///
/// It never changes the order in which a queue starts its operations; that is what
/// ``Operation/queuePriority`` is for. Nor is it applied to a thread: without privileges a thread
/// may become nicer and cannot go back, and the threads of a queue go on to other operations. Work
/// that wants to act on it asks for ``current``.
///
/// The raw values are those of Foundation on Apple platforms; on Linux it has others.
public enum QualityOfService: Int, Sendable, CaseIterable {
  /// Work that the user waits for at this moment.
  case userInteractive = 0x21
  /// Work that the user asked for.
  case userInitiated = 0x19
  /// Work that the user knows of.
  case utility = 0x11
  /// Work that the user does not see.
  case background = 0x09
  /// No statement; the default.
  case `default` = -1

  /// The quality of service that the work on the calling thread is to have.
  ///
  /// Inside an operation that is the operation's own, or its queue's where it states none; inside
  /// one that was started by hand in another operation, that one's queue's. `.default` where neither
  /// states any, and outside operations.
  public static var current: QualityOfService {
    guard let operation = CurrentWork.operation else { return .default }
    let own = operation.qualityOfService
    return own == .default ? OperationQueue.currentQueue?.qualityOfService ?? .default : own
  }
}
