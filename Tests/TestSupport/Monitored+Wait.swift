// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import FixtureSupport
package import Testing

extension Monitored {
  /// Blocks the calling thread until the predicate returns `true`.
  ///
  /// - Parameters:
  ///   - what: The awaited condition, for the issue.
  ///   - limit: The maximum time in seconds. An issue is recorded after this time.
  ///   - location: The location of the issue.
  ///   - predicate: Called under the lock after each change. It must not change anything.
  /// - Returns: Whether the predicate returned `true` in time.
  @discardableResult
  package func wait(
    for what: String, limit: Int = Patience.seconds, at location: SourceLocation = #_sourceLocation,
    until predicate: (State) -> Bool
  ) -> Bool {
    let (holds, last) = awaitTruth(within: limit, of: predicate)
    if !holds {
      Issue.record(
        "Waited \(limit) s in vain for \(what); last seen: \(last)", sourceLocation: location)
    }
    return holds
  }
}
