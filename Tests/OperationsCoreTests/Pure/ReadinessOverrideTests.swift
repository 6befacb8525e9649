// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("ReadinessOverride")
struct ReadinessOverrideTests {
  private final class Generic<Value>: Operation, @unchecked Sendable {
    let value: Value? = nil
  }

  private final class GenericOverriding<Value>: Operation, @unchecked Sendable {
    let value: Value? = nil
    override var isReady: Bool { super.isReady && value == nil }
  }

  private class Overriding: Operation, @unchecked Sendable {
    override var isReady: Bool { true }
  }

  private final class Inheriting: Overriding, @unchecked Sendable {
    override func main() {}
  }

  private final class Settable: Operation, @unchecked Sendable {
    override var isReady: Bool {
      get { super.isReady }
      set {}
    }
  }

  /// An operation that overrides every member that the library reads, except `isReady`.
  private final class Other: BlockOperation, @unchecked Sendable {
    override var isExecuting: Bool { false }
    override var isFinished: Bool { false }
    override var isCancelled: Bool { false }
    override var isAsynchronous: Bool { true }
    override var isConcurrent: Bool { true }
    override func start() {}
    override func main() {}
    override func cancel() {}
  }

  @Test(
    "DE-18: a class that does not override isReady is known as such",
    arguments: [
      Operation.self, BlockOperation.self, AsyncOperation<Int>.self, GroupOperation.self,
      AsyncOperation<String>.self, PlainSubclass.self, Generic<Int>.self, Other.self,
    ])
  func withoutOverride(type: Operation.Type) {
    #expect(!ReadinessOverride.exists(in: type))
  }

  @Test(
    "DE-18: a class that overrides isReady, or inherits an override, is known as such",
    arguments: [
      Overriding.self, Inheriting.self, Settable.self, GenericOverriding<String>.self,
      FlaggedOperation.self,
    ])
  func withOverride(type: Operation.Type) {
    #expect(ReadinessOverride.exists(in: type))
  }
}
