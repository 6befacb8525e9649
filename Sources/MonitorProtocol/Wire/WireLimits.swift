// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What one side accepts from the other, so that a message costs no more than its sender has taken the
/// trouble to send.
public enum WireLimits {
  /// The most bytes of a message.
  public static let maximumFrame = 1 << 20
  /// The bytes from which on a part of an update takes in nothing more.
  public static let softPartSize = 256 << 10
  /// The most bytes of a name, a title, a sentence or a filter, in UTF-8. Longer ones are cut when they
  /// are sent, but for filters.
  public static let longestText = 4 << 10
  /// The most operations that one command may name.
  public static let mostOperationsOfCommand = 100_000
  /// The most dependents that the result of a command names, however many were asked to cancel: with the
  /// largest ids there are, and as many outcomes as there may be, they fit into a frame.
  public static let mostDependentsOfResult = 80_000
  /// The most operations that an interest may name singly, and the most whose dependents it may want: with
  /// the largest ids there are, both fit into a frame.
  public static let mostSingleOperations = 50_000
  /// The most parts of the dependency graph that an interest may want.
  public static let mostGraphs = 64
  /// The most operations that all of these together may have, and that may be wanted of the graph's roots
  /// and what is behind them: they are looked up anew for each update.
  public static let mostGraphOperations = 20_000
  /// The most operations, events or runs of any kind that an interest may want.
  public static let mostRows = 1_000_000
  /// The furthest that an interest may look back.
  public static let longestWindow = Duration.seconds(86_400)
  /// The shortest time between two updates that a viewer may want.
  public static let shortestInterval = Duration.milliseconds(10)
  /// The longest time between two updates that a viewer may want.
  public static let longestInterval = Duration.seconds(86_400)
  /// The most credit that one message may give.
  public static let mostCredit = 64
  /// The widest that a queue may be made.
  public static let widestQueue = 1_000_000
  /// The most levels by which a priority may be changed, up or down: there are five.
  public static let mostPriorityLevels = 4
  /// The most parts of an update, and the most bytes of them all: four million operations fit, as they
  /// usually are.
  static let mostParts = 1 << 13
  /// See ``mostParts``.
  static let mostBytesOfUpdate = 256 << 20
  /// The most entries of all lists of an update together, which may be very short on the wire and are long
  /// in memory.
  static let mostEntriesOfUpdate = 1 << 22
  /// The most ids of an update, wherever they stand: in the lists of ids, and in those of its entries.
  static let mostIDsOfUpdate = 1 << 25
  /// The most queues of an update.
  static let mostQueues = 1 << 20
  /// What is said to be more is taken for so much, so that sums over ``mostQueues`` do not overflow.
  static let largestCount: Int64 = 1 << 40
  /// Nanoseconds, 73 years either way, into which times and durations are moved that lie outside:
  /// differences of what is left do not overflow.
  static let times = Int64(-1) << 61...1 << 61
  /// How deep messages may be in each other, unknown ones included. Ours are not deeper than 5.
  static let mostDepth = 16
}

/// Why bytes from the other side are not understood, or not accepted.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence for a person, without a full stop.
  public let description: String

  /// Creates an error from its sentence.
  init(_ description: String) { self.description = description }
}
