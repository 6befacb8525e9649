// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The new values that observers of an operation's flags were told, in order.
struct ToldFlags: Equatable, Sendable {
  var isReady: [Bool] = []
  var isExecuting: [Bool] = []
  var isFinished: [Bool] = []
  var isCancelled: [Bool] = []
}
