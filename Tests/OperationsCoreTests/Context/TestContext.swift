// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import TestSupport

@testable import OperationsCore

/// A context that consists of one text, which a task-local value contains.
final class TestContext: OperationContext {
  @TaskLocal static var current: String?
  /// The events of all contexts, if the test collects them.
  @TaskLocal static var log: EventLog<String>?

  private let text: String
  private let log: EventLog<String>?

  private init(_ text: String, _ log: EventLog<String>?) {
    self.text = text
    self.log = log
  }

  func bind(_ body: () -> Void) { Self.$current.withValue(text, operation: body) }

  func begin(_ operation: Operation) -> any OperationContext {
    log?.note("begin \(text)")
    return log == nil ? self : TestContext("work of \(text)", log)
  }

  func end(_ operation: Operation) { log?.note("end \(text)") }

  private static let hook = OperationContextHook {
    TestContext.current.map { TestContext($0, TestContext.log) }
  }

  static func install() { hook.install() }
}

/// A trait that installs the hook of ``TestContext`` while a test runs. The tests of a suite with this trait must
/// run one at a time.
struct ContextCaptured: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    TestContext.install()
    defer { OperationContextHook.remove() }
    try await function()
  }
}

extension Trait where Self == ContextCaptured {
  /// A trait with which operations capture the ``TestContext``.
  static var contextCaptured: Self { ContextCaptured() }
}
