// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The new values of an operation's flags that its observers have received, in order.
struct ReportedFlags: Equatable, Sendable {
  var isReady: [Bool] = []
  var isExecuting: [Bool] = []
  var isFinished: [Bool] = []
  var isCancelled: [Bool] = []
}
