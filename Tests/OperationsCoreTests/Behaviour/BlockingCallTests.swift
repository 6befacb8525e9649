// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@Suite("Calls that the compiler rejects")
struct BlockingCallTests {
  @Test("H-9, WA-6: the compiler rejects blocking calls in tasks, and accepts the replacements")
  func refused() throws {
    let errors = try Compiler.diagnostics(
      of: """
        import OperationsCore
        func blocks(_ operation: Operation, _ queue: OperationQueue) async {
          operation.waitUntilFinished()
          queue.addOperations([], waitUntilFinished: true)
          queue.waitUntilAllOperationsAreFinished()
        }
        func awaits(_ operation: Operation, _ queue: OperationQueue) async throws {
          try queue.tryAddOperations([operation])
          queue.addOperations([operation])
          await operation.waitUntilFinished()
          await queue.waitUntilAllOperationsAreFinished()
        }
        """
    ).filter { $0.contains("error: ") && !$0.hasPrefix(" ") }
    let sentences = errors.map { $0.drop { $0 != "e" } }
    // Without `await`, the compiler chooses the asynchronous method.
    let missesAwait = "error: expression is 'async' but is not marked with 'await'"
    #expect(sentences.count { $0 == missesAwait } == 2)
    let unavailable = "is unavailable from asynchronous contexts"
    #expect(
      sentences.contains {
        $0.contains("'addOperations' \(unavailable)") && $0.contains("Call `addOperations(_:)`")
      })
    #expect(errors.count == 3)
  }

  @Test(
    "WA-6: in top-level code, the compiler chooses the blocking methods, and names the alternatives"
  )
  func topLevelCode() throws {
    let errors = try Compiler.diagnostics(
      of: """
        import OperationsCore
        let queue = OperationQueue()
        await BlockOperation {}.waitUntilFinished()
        await queue.waitUntilAllOperationsAreFinished()
        """
    ).filter { $0.contains("error: ") && !$0.hasPrefix(" ") }
    for call in ["waitUntilFinished", "waitUntilAllOperationsAreFinished"] {
      #expect(
        errors.contains {
          $0.contains("'\(call)' is unavailable")
            && $0.contains("In an asynchronous function, call `await \(call)()`")
        })
    }
  }

  @Test("Only operations and queues can conform to KeyValueObservable")
  func conformance() throws {
    let program = """
      import OperationsCore
      final class Counter: KeyValueObservable {
        typealias ObservedRoot = Counter
        func willChangeValue(forKey key: String) {}
        func didChangeValue(forKey key: String) {}
        func value(forKey key: String) -> Any? { nil }
        HOST
      }
      """
    let errors = try Compiler.diagnostics(of: program.replacing("HOST", with: ""))
    #expect(errors.contains { $0.contains("'Counter' does not conform to protocol") }, "\(errors)")
    let host = "var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }"
    let secondErrors = try Compiler.diagnostics(of: program.replacing("HOST", with: host))
    #expect(secondErrors.contains { $0.contains("is inaccessible due to") }, "\(secondErrors)")
    let subclass =
      "import OperationsCore\nfunc accept<T: KeyValueObservable>(_: T) {}\n"
      + "final class Own: Operation, @unchecked Sendable { func f() { accept(self) } }"
    #expect(try Compiler.diagnostics(of: subclass) == [])
  }
}
