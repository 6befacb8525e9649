// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore

extension CurrentWork {
  /// Runs `body` as if the calling thread were a worker that already holds the next operation that
  /// it will execute.
  static func betweenOperations(_ body: () -> Void) {
    var scope = Scope()
    scope.isBetweenOperations = true
    withScope(&scope) { _ in body() }
  }
}
