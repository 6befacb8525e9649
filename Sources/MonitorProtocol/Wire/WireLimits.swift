// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The limits for received messages. Without limits, a short message could cause much work or much
/// memory for its receiver.
public enum WireLimits {
  /// The maximum size of a message in bytes.
  public static let maximumMessageSize = 1 << 20
  /// The maximum size of a message between a viewer and a relay in bytes. The limit leaves 64 bytes for the other
  /// fields of a message that contains a process's message of ``maximumMessageSize``.
  package static let maximumEnvelopeSize = maximumMessageSize + 64
  /// The maximum number of processes in the greeting of a relay.
  package static let mostRelayTargets = 1_000
  /// The maximum total size of the processes in the greeting of a relay, in bytes. It is less than
  /// ``maximumEnvelopeSize``.
  static let mostRelayTargetBytes = 1_000_000
  /// The size of a part of an update in bytes. When a part has reached this size, no further items
  /// are added to it.
  public static let softPartSize = 256 << 10
  /// The maximum size of a name, a title, a sentence or a filter in bytes of UTF-8. The sender
  /// truncates longer names, titles and sentences.
  public static let longestText = 4 << 10
  /// The maximum size of the text of an error in bytes of UTF-8. The sender truncates longer texts.
  package static let longestErrorText = 1 << 10
  /// The maximum number of operations in one command.
  public static let mostOperationsOfCommand = 100_000
  /// The maximum number of dependents in the result of a command. The process may have asked more
  /// dependents to cancel. A result with this number of dependents fits into a message, even with
  /// the largest ids and the maximum number of outcomes.
  public static let mostDependentsOfResult = 80_000
  /// The maximum size of all ``CommandResult/refusals`` in a message, in bytes. They fit into a
  /// message together with the maximum numbers of outcomes and dependents.
  public static let mostRefusalBytes = 64 << 10
  /// The maximum size of ``Interest/operations`` and of ``Interest/subjects``. Both fit into a
  /// message together, even with the largest ids.
  public static let mostSingleOperations = 50_000
  /// The maximum size of all ``Interest/names`` in a message, in bytes. They fit into a message together with the
  /// maximum number of single operations.
  package static let mostNameBytes = 16 << 10
  /// The maximum number of operations in ``Interest/logs``, unless all are requested.
  package static let mostLogOperations = 1_000
  /// The maximum number of parts of the dependency graph in an interest.
  public static let mostGraphs = 64
  /// The maximum number of operations in all parts of the dependency graph together, and in the
  /// dependency trees. The collector searches these operations again for each update.
  public static let mostGraphOperations = 20_000
  /// The maximum of ``Interest/rowLimit``, ``Interest/eventLimit`` and ``Interest/Timeline/limit``.
  public static let mostRows = 1_000_000
  /// The longest time window for runs that a viewer can request.
  public static let longestWindow = Duration.seconds(86_400)
  /// The shortest time between two updates that a viewer can request.
  public static let shortestInterval = Duration.milliseconds(10)
  /// The longest time between two updates that a viewer can request.
  public static let longestInterval = Duration.seconds(86_400)
  /// The maximum credit that a viewer can grant in one message.
  public static let mostCredit = 64
  /// The maximum width that a command can set.
  public static let widestQueue = 1_000_000
  /// The maximum number of operations that a queue starts in a period, if a command sets the limit.
  public static let mostStartsInPeriod = 1_000_000
  /// The longest period of a limit of starts that a command can set.
  public static let longestStartPeriod = Duration.seconds(365 * 86_400)
  /// The maximum number of queues in a request for run orders, and of run orders in an update.
  public static let mostRunOrders = 64
  /// The maximum number of executing operations, and of ready operations, in a run order.
  public static let mostRunOrderOperations = 500
  /// The maximum number of ids in all run orders of an update together.
  public static let mostRunOrderIDs = 5_000
  /// The maximum number of groups in an update.
  public static let mostGroups = 1_000
  /// The maximum number of levels by which a command can raise or lower a priority. There are five
  /// levels.
  public static let mostPriorityLevels = 4
  /// The maximum number of parts of an update. It is enough for four million operations of the
  /// usual size.
  static let mostParts = 1 << 13
  /// The maximum number of bytes in all parts of an update. It is enough for four million
  /// operations of the usual size.
  static let mostBytesOfUpdate = 256 << 20
  /// The maximum number of entries in all lists of an update. An entry can be very short in a
  /// message and much larger in memory.
  static let mostEntriesOfUpdate = 1 << 22
  /// The maximum number of ids in an update, including the ids in its entries.
  static let mostIDsOfUpdate = 1 << 25
  /// The maximum number of queues in an update.
  static let mostQueues = 1 << 20
  /// The maximum of a count. Larger counts are clamped to this value, so that the sum over
  /// ``mostQueues`` queues does not overflow.
  static let largestCount: Int64 = 1 << 40
  /// The range in nanoseconds to which times and durations are clamped: 73 years in both
  /// directions. Differences of times in this range do not overflow.
  static let times = Int64(-1) << 61...1 << 61
  /// The maximum nesting depth of a message, including unknown fields. Known messages have a depth
  /// of at most 6.
  static let mostDepth = 16
}

/// The reason why a received message is invalid or refused.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason as a sentence for the user, without a full stop.
  public let description: String

  /// Creates an error from its description.
  init(_ description: String) { self.description = description }
}
