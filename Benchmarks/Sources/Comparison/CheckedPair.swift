// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// Two subjects, with a limit for the time of the first one divided by the time of the second one,
/// per operation. The limit holds on every machine: a defect in the design exceeds it by far, and a
/// slow or busy machine does not exceed it.
public struct CheckedPair: Sendable {
  /// The subject that has to be fast enough.
  public let subject: Subject
  /// The subject that it is compared with.
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

  /// A chain that alternates between two queues, compared with one in a single queue. Both stay on
  /// one thread.
  public static let alternation = CheckedPair(
    "ping-pong of 10^3, to a chain", limit: 2.5,
    Subject(.pingPong, 1_000, .operations), to: Subject(.chain, 1_000, .operations))

  /// A chain, compared with Foundation. Foundation takes seconds, most of them to search for
  /// operations that are ready.
  public static let chainToFoundation = CheckedPair(
    "chain of 10^4, to Foundation", limit: 0.01,
    Subject(.chain, 10_000, .operations), to: Subject(.chain, 10_000, .foundation))

  static let all = growths + [alternation, chainToFoundation]
}
