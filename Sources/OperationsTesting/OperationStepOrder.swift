// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The order in which ``SteppedOperationQueue`` makes its steps.
public enum OperationStepOrder: Sendable, Equatable, CustomStringConvertible {
  /// The order of a queue of width 1: first the tasks that can continue, in the order in which they were
  /// resumed, then the ready operations, in the order in which a queue would start them.
  case queueOrder
  /// A random order, which the seed determines. The same seed gives the same order again, if the code under
  /// test decides nothing by itself that differs from run to run.
  case seeded(UInt64)

  /// Returns an order with a seed from the environment, or with a random one.
  ///
  /// The seed is the value of the environment variable `OPERATIONS_TESTING_SEED`, or a random number. It is
  /// printed, so that a failure can be repeated.
  ///
  /// - Parameter test: The name of the test, which is printed with the seed.
  /// - Returns: The order.
  public static func random(for test: String = #function) -> OperationStepOrder {
    let given = csystem_secure_environment("OPERATIONS_TESTING_SEED").flatMap {
      UInt64(String(cString: $0))
    }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("\(test): OPERATIONS_TESTING_SEED=\(seed)")
    return .seeded(seed)
  }

  /// The order in words, with its seed.
  public var description: String {
    switch self {
    case .queueOrder: "the queue's order"
    case .seeded(let seed): "the order of the seed \(seed)"
    }
  }
}

/// Chooses the next step.
struct StepChooser {
  private var state: UInt64?

  init(_ order: OperationStepOrder) {
    switch order {
    case .queueOrder: state = nil
    case .seeded(let seed): state = seed
    }
  }

  /// Returns a number from 0 to `count` − 1: always 0 for the queue's order.
  mutating func choose(from count: Int) -> Int {
    guard let seed = state, count > 1 else { return 0 }
    // The generator SplitMix64: consecutive seeds give unrelated numbers.
    let next = seed &+ 0x9e37_79b9_7f4a_7c15
    state = next
    var mixed = next
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int((mixed ^ (mixed >> 31)) % UInt64(count))
  }
}
