// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// Two benchmarks whose times per operation are compared. The time of the first benchmark divided
/// by the time of the second has a limit. The ratio does not exceed the limit on a slow or busy
/// machine, but a defect in the design exceeds it by far.
public struct CheckedPair: Sendable {
  /// The first benchmark of the pair. Its time divided by the time of the second benchmark has a
  /// limit.
  public let subject: Subject
  /// The second benchmark of the pair, with which the first one is compared.
  public let other: Subject
  let promise: Promise

  private init(_ title: String, limit: Double, _ subject: Subject, to other: Subject) {
    self.subject = subject
    self.other = other
    promise = Promise(title: title, limit: limit) { $0.pairedRatio(subject, to: other) }
  }

  private static func growth(_ workload: Workload) -> CheckedPair {
    CheckedPair(
      "\(workload.rawValue), growth from 10^3 to 10^5", limit: 2,
      Subject(workload, 100_000, .operations), to: Subject(workload, 1_000, .operations))
  }

  /// The pairs that measure how the time of an operation grows with the number of operations.
  public static let growths = [growth(.flat), growth(.chain), growth(.tree)]

  /// Compares a chain that alternates between two queues with a chain in a single queue. Both
  /// chains stay on one thread.
  public static let alternation = CheckedPair(
    "ping-pong of 10^3, to a chain", limit: 2.5,
    Subject(.pingPong, 1_000, .operations), to: Subject(.chain, 1_000, .operations))

  /// Compares a chain in this package's queue with a chain in Foundation's queue. Foundation needs
  /// seconds, mostly to search for operations that are ready.
  public static let chainToFoundation = CheckedPair(
    "chain of 10^4, to Foundation", limit: 0.01,
    Subject(.chain, 10_000, .operations), to: Subject(.chain, 10_000, .foundation))

  static let all = growths + [alternation, chainToFoundation]
}
