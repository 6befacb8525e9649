// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A violation of the documented rules, which was found in a run of a random program.
struct Discrepancy: Sendable, Equatable {
  /// The number of steps that had run when the violation was found; `nil` if it was found at the
  /// end of the program.
  let stepCount: Int?
  let findings: [String]
}
