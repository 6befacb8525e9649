// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A violation of the rules in the run of a program.
struct Discrepancy: Sendable, Equatable {
  /// The number of steps before it; `nil` if it was found at the end.
  let stepCount: Int?
  let findings: [String]
}
