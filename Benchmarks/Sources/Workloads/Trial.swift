// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One contender's way of doing one workload.
public struct Trial: Sendable {
  /// How a sample is taken.
  public enum Body: Sendable {
    /// Prepares a sample of so many operations, and returns the work that is to be timed.
    case timed(@Sendable (_ size: Int) -> () -> Void)
    /// Takes a sample and returns what was measured, in the unit of the workload's measure.
    case values(@Sendable (_ size: Int) -> [Int])
  }

  /// What is done.
  public let workload: Workload
  /// Who does it.
  public let contender: Contender
  /// The sizes that this contender survives in reasonable time.
  public let sizes: [Int]
  /// How it is done.
  public let body: Body

  /// Describes a trial.
  ///
  /// - Parameters:
  ///   - workload: What is done.
  ///   - contender: Who does it.
  ///   - limit: The largest size that the contender survives in reasonable time; by default there is
  ///     none.
  ///   - body: How it is done.
  public init(_ workload: Workload, by contender: Contender, upTo limit: Int = .max, _ body: Body) {
    self.workload = workload
    self.contender = contender
    self.sizes = workload.sizes.filter { $0 <= limit }
    self.body = body
  }
}
