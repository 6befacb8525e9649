// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The limits for messages from the other side. They keep the cost of a message for its receiver
/// proportional to the cost for its sender.
public enum WireLimits {
  /// The maximum size of a message in bytes.
  public static let maximumMessageSize = 1 << 20
  /// The size in bytes from which on a part of an update receives no further items.
  public static let softPartSize = 256 << 10
  /// The maximum size of a name, a title, a sentence or a filter in bytes of UTF-8. The sender cuts
  /// longer ones, except for filters.
  public static let longestText = 4 << 10
  /// The maximum number of operations in one command.
  public static let mostOperationsOfCommand = 100_000
  /// The maximum number of dependents that the result of a command names. More may have been asked
  /// to cancel. With the largest ids and the maximum number of outcomes, the result fits into a
  /// message.
  public static let mostDependentsOfResult = 80_000
  /// The maximum number of single operations in an interest, and the maximum number of subjects.
  /// With the largest ids, both fit into a message.
  public static let mostSingleOperations = 50_000
  /// The maximum number of parts of the dependency graph in an interest.
  public static let mostGraphs = 64
  /// The maximum number of operations in all these parts together, and in the dependency trees.
  /// They are collected again for each update.
  public static let mostGraphOperations = 20_000
  /// The maximum number of operations, events or runs in an interest.
  public static let mostRows = 1_000_000
  /// The longest window of runs in an interest.
  public static let longestWindow = Duration.seconds(86_400)
  /// The shortest time between two updates that a viewer can request.
  public static let shortestInterval = Duration.milliseconds(10)
  /// The longest time between two updates that a viewer can request.
  public static let longestInterval = Duration.seconds(86_400)
  /// The maximum credit in one message.
  public static let mostCredit = 64
  /// The maximum width that a command can set.
  public static let widestQueue = 1_000_000
  /// The maximum number of levels by which a command changes a priority, up or down: there are five
  /// levels.
  public static let mostPriorityLevels = 4
  /// The maximum number of parts of an update, and of bytes in all its parts: enough for four
  /// million operations of the usual size.
  static let mostParts = 1 << 13
  /// See ``mostParts``.
  static let mostBytesOfUpdate = 256 << 20
  /// The maximum number of entries in all lists of an update. Entries can be very short in a message
  /// and long in memory.
  static let mostEntriesOfUpdate = 1 << 22
  /// The maximum number of ids in an update: in its lists of ids and in those of its entries.
  static let mostIDsOfUpdate = 1 << 25
  /// The maximum number of queues in an update.
  static let mostQueues = 1 << 20
  /// The maximum of a count. Larger counts are clamped to it, so that sums over ``mostQueues`` do
  /// not overflow.
  static let largestCount: Int64 = 1 << 40
  /// The range, in nanoseconds, to which times and durations are clamped: 73 years in both
  /// directions. Their differences do not overflow.
  static let times = Int64(-1) << 61...1 << 61
  /// The maximum nesting depth of messages, including unknown ones. The depth of the known ones is
  /// at most 5.
  static let mostDepth = 16
}

/// The reason why bytes from the other side are invalid or refused.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence for the user, without a full stop.
  public let description: String

  /// Creates an error from its description.
  init(_ description: String) { self.description = description }
}
