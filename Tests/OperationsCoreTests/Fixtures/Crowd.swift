// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// Counts how many callers are at the same time between their calls of `enter()` and `leave()`.
final class Crowd: Sendable {
  private struct Counts {
    var inside = 0
    var largest = 0
    var visits = 0
  }

  private let counts = Monitored(Counts())

  var largest: Int { counts.value.largest }
  var visitCount: Int { counts.value.visits }

  func enter() {
    counts.change {
      $0.inside += 1
      $0.visits += 1
      $0.largest = max($0.largest, $0.inside)
    }
  }

  func leave() { counts.change { $0.inside -= 1 } }

  func visit() {
    enter()
    leave()
  }
}
