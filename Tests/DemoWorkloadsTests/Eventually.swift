// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Returns whether a condition becomes true within 20 s.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(20)
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    await Task.yield()
  }
  return true
}
