// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// The random choices for one operation in a test: for example, whether and when the operation is
/// cancelled.
struct OperationPlan: Sendable {
  enum Cancellation: Sendable {
    case never, beforeAdding, afterAdding, onAnotherThread, duringWork
  }

  /// The order in which an operation and its dependents are added.
  enum Order: CaseIterable, Sendable {
    case operationFirst, dependentsFirst, together
  }

  let cancellation: Cancellation
  let order: Order

  /// The duration of the work, as the number of calls of an empty function.
  let spinCount: Int

  /// Whether the observers of the operation's flags, if there are any, request old and new values.
  let observersWantValues: Bool

  /// Whether a thread waits until the operation has finished.
  let isWaitedFor: Bool

  init(of shape: Shape, in variant: ShapeVariant, from generator: inout SeededGenerator) {
    let cancellations: [Cancellation] =
      shape.finishesInCancel
      ? [.never, .never, .afterAdding, .onAnotherThread, .duringWork]
      : [.never, .never, .beforeAdding, .afterAdding, .onAnotherThread, .duringWork]
    let cancellation = cancellations.randomElement(using: &generator) ?? .never
    self.cancellation = variant.isCancelled ? cancellation : .never
    let order = Order.allCases.randomElement(using: &generator) ?? .together
    self.order = shape.enqueue != nil && order == .together ? .operationFirst : order
    spinCount = Int.random(in: 0...200, using: &generator)
    observersWantValues = Bool.random(using: &generator)
    isWaitedFor = Int.random(in: 0..<8, using: &generator) == 0
  }
}
