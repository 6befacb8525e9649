// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// Two subjects of which the first may take at most so many times as long as the second, an operation,
/// wherever the package is built: a limit that a defect in the design breaks by far, and a slow or
/// busy machine does not.
public struct CheckedPair: Sendable {
  /// What is to be fast enough.
  public let subject: Subject
  /// What it is compared with.
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

  /// How the time of an operation grows with their number.
  public static let growths = [growth(.flat), growth(.chain), growth(.tree)]

  /// Foundation's takes seconds, most of them for looking for what is ready.
  public static let chainToFoundation = CheckedPair(
    "chain of 10^4, to Foundation", limit: 0.01,
    Subject(.chain, 10_000, .operations), to: Subject(.chain, 10_000, .foundation))

  static let all = growths + [chainToFoundation]
}
