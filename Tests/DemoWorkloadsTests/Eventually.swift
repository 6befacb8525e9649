// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Returns whether a condition becomes true within 60 s.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(60)
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}
