// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The implementation of one workload by one compared library.
public struct Trial: Sendable {
  /// The code that takes a sample.
  public enum Body: Sendable {
    /// Prepares a sample of `size` operations, and returns the work to be timed.
    case timed(@Sendable (_ size: Int) -> () -> Void)
    /// Takes a sample and returns the measured values, in the unit of the workload's measure.
    case values(@Sendable (_ size: Int) -> [Int])
  }

  /// The workload.
  public let workload: Workload
  /// The library that runs the workload.
  public let contender: Contender
  /// The numbers of operations with which the library completes the workload in reasonable time.
  public let sizes: [Int]
  /// The code that takes a sample.
  public let body: Body

  /// Creates a trial.
  ///
  /// - Parameters:
  ///   - workload: The workload.
  ///   - contender: The library that runs the workload.
  ///   - limit: The largest number of operations that the library completes in reasonable time. By
  ///     default there is no limit.
  ///   - body: The code that takes a sample.
  public init(_ workload: Workload, by contender: Contender, upTo limit: Int = .max, _ body: Body) {
    self.workload = workload
    self.contender = contender
    self.sizes = workload.sizes.filter { $0 <= limit }
    self.body = body
  }
}
