// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension TaskPriority {
  /// The priority of the task that runs an asynchronous operation; `nil` where nobody has stated one.
  ///
  /// A stated quality of service has the task priority that stands for the same; only where there is none
  /// does the place in the queue say how urgent the work is.
  ///
  /// - Parameters:
  ///   - qualityOfService: The operation's, or its queue's where it states none.
  ///   - queuePriority: The operation's.
  init?(_ qualityOfService: QualityOfService, _ queuePriority: Operation.QueuePriority) {
    switch qualityOfService {
    case .userInteractive, .userInitiated: self = .high
    case .utility: self = .low
    case .background: self = .background
    case .default:
      switch queuePriority {
      case .veryHigh, .high: self = .high
      case .normal: return nil
      case .low: self = .low
      case .veryLow: self = .background
      }
    }
  }
}
