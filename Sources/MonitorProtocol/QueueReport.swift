// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one queue, as the monitor knows it.
public struct QueueReport: Codable, Sendable, Equatable, Identifiable {
  /// Identifies one queue for the life of its process. Never given twice.
  public struct ID: Codable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: UInt64

    /// Creates an identifier from its number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads the number.
    public init(from decoder: any Decoder) throws {
      rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(rawValue)
    }

    /// Whether `left` was given out before `right`.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// Identifies the queue.
  public let id: ID
  /// Its name, unsanitised. It may contain any characters.
  public var name: String
  /// The number of its operations in each state, since the queue was created.
  public var counts: StateCounts
  /// The maximum number of operations that it executes at once; `nil` if the system decides.
  public var width: Int?
  /// Whether the queue is suspended.
  public var isSuspended: Bool

  /// Creates a report.
  public init(
    id: ID, name: String, counts: StateCounts = StateCounts(), width: Int? = nil,
    isSuspended: Bool = false
  ) {
    self.id = id
    self.name = name
    self.counts = counts
    self.width = width
    self.isSuspended = isSuspended
  }
}
