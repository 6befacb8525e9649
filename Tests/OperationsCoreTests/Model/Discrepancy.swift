// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a run of a program has shown that the rules forbid.
struct Discrepancy: Sendable, Equatable {
  /// After how many of the program's steps; `nil` where it showed at the end.
  let stepCount: Int?
  let findings: [String]
}
