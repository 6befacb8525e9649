// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The new values in notifications of an operation's observers, in order.
struct ToldFlags: Equatable, Sendable {
  var isReady: [Bool] = []
  var isExecuting: [Bool] = []
  var isFinished: [Bool] = []
  var isCancelled: [Bool] = []
}
