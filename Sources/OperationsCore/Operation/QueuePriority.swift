// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Operation {
  /// The order in which a queue starts operations that are ready.
  ///
  /// Priority never replaces a dependency: a ready operation of low priority starts before a
  /// waiting one of high priority.
  public enum QueuePriority: Int, Sendable, CaseIterable {
    /// The lowest priority. Operations of this priority start after all other ready operations.
    case veryLow = -8
    /// Operations of this priority start after operations of normal priority.
    case low = -4
    /// The normal priority, which an operation has by default.
    case normal = 0
    /// Operations of this priority start before operations of normal priority.
    case high = 4
    /// The highest priority. Operations of this priority start before all other ready operations.
    case veryHigh = 8

    /// Creates the priority with the given raw value. If no priority has this value, the
    /// initializer creates the next priority towards `normal`. The result is never `nil`.
    ///
    /// 10 gives `veryHigh`, 7 and 5 `high`, 3 to −3 `normal`, −10 `veryLow`.
    ///
    /// Source: Apple, "NSOperation", `queuePriority`: other values are adjusted towards normal.
    public init?(rawValue: Int) {
      switch rawValue {
      case 8...: self = .veryHigh
      case 4...7: self = .high
      case -3...3: self = .normal
      case -7 ... -4: self = .low
      default: self = .veryLow
      }
    }

    /// The index of the priority, from 0 for the highest to 4 for the lowest.
    var index: Int {
      switch self {
      case .veryHigh: 0
      case .high: 1
      case .normal: 2
      case .low: 3
      case .veryLow: 4
      }
    }

    init(index: Int) {
      switch index {
      case 0: self = .veryHigh
      case 1: self = .high
      case 2: self = .normal
      case 3: self = .low
      default: self = .veryLow
      }
    }
  }
}
