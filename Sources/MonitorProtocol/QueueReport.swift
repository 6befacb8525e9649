// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of one queue, as the monitor reports it.
public struct QueueReport: Codable, Sendable, Equatable, Identifiable {
  /// The id of a queue. The same process never uses an id for two queues.
  public struct ID: Codable, Sendable, Hashable, Comparable {
    /// The id as a number.
    public let rawValue: UInt64

    /// Creates an identifier from its number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads an id from a decoder, as a number.
    public init(from decoder: any Decoder) throws {
      rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the id to an encoder, as a number.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(rawValue)
    }

    /// Whether the queue `left` was created before the queue `right`.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// The id of the queue.
  public let id: ID
  /// The name of the queue, unsanitised. The name may contain any characters.
  public var name: String
  /// The number of the queue's operations in each state, since the queue was created.
  public var counts: StateCounts
  /// The maximum number of operations that the queue executes at once; `nil` if the system decides.
  public var width: Int?
  /// Whether the queue is suspended.
  public var isSuspended: Bool
  /// The maximum number of operations that the queue starts in a period; `nil` for no limit.
  public var startLimit: StartLimit?
  /// The statistics of the recent slot waits and run times of the queue's operations; `nil` if the viewer does
  /// not request them with ``Interest/queueTimes``. They are not a part of the encoded report.
  public var times: TimeStatistics?
  /// The number of operations that have begun to execute, since the queue was created. An operation that was cancelled
  /// before its start does not count. An operation that the queue has chosen counts before it begins, so the number can
  /// be too high for a moment, and decreases if such an operation does not begin. `nil` if the number is unknown. It is
  /// not a part of the encoded report.
  public var startedCount: Int?

  // Encoded reports are a part of the output of commands, which has none of the other values.
  private enum CodingKeys: CodingKey {
    case id, name, counts, width, isSuspended, startLimit
  }

  /// The maximum number of operations that a queue starts in a period.
  public struct StartLimit: Codable, Sendable, Equatable {
    /// The maximum number of starts in each period.
    public var count: Int
    /// The length of the period, in nanoseconds. A message contains this number.
    package var periodNanoseconds: Int64

    /// The length of the period, in seconds.
    public var periodSeconds: Double { Double(periodNanoseconds) / 1e9 }

    private enum CodingKeys: CodingKey { case count, periodSeconds }

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - count: The maximum number of starts in each period.
    ///   - periodSeconds: The length of the period, in seconds. A negative length counts as zero, and more than 100
    ///     years as 100 years. The length is rounded to nanoseconds.
    public init(count: Int, periodSeconds: Double) {
      let longest = 100.0 * 365 * 86_400
      self.init(
        count: count,
        periodNanoseconds: Int64((max(0, min(periodSeconds, longest)) * 1e9).rounded()))
    }

    package init(count: Int, periodNanoseconds: Int64) {
      self.count = count
      self.periodNanoseconds = periodNanoseconds
    }

    /// Decodes a limit from its two numbers.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      self.init(
        count: try values.decode(Int.self, forKey: .count),
        periodSeconds: try values.decode(Double.self, forKey: .periodSeconds))
    }

    /// Encodes the count, and the period in seconds.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(count, forKey: .count)
      try values.encode(periodSeconds, forKey: .periodSeconds)
    }

    /// The limit as a short text, such as "5/s", "100/min" or "3/10s".
    package var text: String {
      switch periodSeconds {
      case 1: "\(count)/s"
      case 60: "\(count)/min"
      case 3_600: "\(count)/h"
      case ..<60 where periodSeconds == periodSeconds.rounded() && periodSeconds > 0:
        "\(count)/\(Int(periodSeconds))s"
      default: "\(count)/\(TimeText.duration(.seconds(periodSeconds)))"
      }
    }
  }

  /// Creates a report of a queue.
  public init(
    id: ID, name: String, counts: StateCounts = StateCounts(), width: Int? = nil,
    isSuspended: Bool = false, startLimit: StartLimit? = nil
  ) {
    self.id = id
    self.name = name
    self.counts = counts
    self.width = width
    self.isSuspended = isSuspended
    self.startLimit = startLimit
  }

  /// Returns the report with another id.
  package func identified(as id: ID) -> QueueReport {
    var report = QueueReport(
      id: id, name: name, counts: counts, width: width, isSuspended: isSuspended,
      startLimit: startLimit)
    report.times = times
    report.startedCount = startedCount
    return report
  }
}
