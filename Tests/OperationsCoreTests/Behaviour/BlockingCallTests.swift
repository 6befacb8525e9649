// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport
import Testing

@Suite("Calls that the compiler rejects")
struct BlockingCallTests {
  @Test("H-9, WA-6: the compiler rejects blocking calls in tasks, and accepts the replacements")
  func refused() throws {
    let errors = try compile(
      """
      import OperationsCore
      func blocks(_ operation: Operation, _ queue: OperationQueue) async {
        operation.waitUntilFinished()
        queue.addOperations([], waitUntilFinished: true)
        queue.waitUntilAllOperationsAreFinished()
      }
      func awaits(_ operation: Operation, _ queue: OperationQueue) async throws {
        try queue.tryAddOperations([operation])
        await operation.finished()
      }
      """
    ).filter { $0.contains("error: ") && !$0.hasPrefix(" ") }
    #expect(errors.count == 3)
    let calls = ["waitUntilFinished", "addOperations", "waitUntilAllOperationsAreFinished"]
    for (error, call) in zip(errors, calls) {
      #expect(error.contains("'\(call)' is unavailable from asynchronous contexts"))
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
    let errors = try compile(program.replacing("HOST", with: ""))
    #expect(errors.contains { $0.contains("'Counter' does not conform to protocol") }, "\(errors)")
    let host = "var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }"
    let secondErrors = try compile(program.replacing("HOST", with: host))
    #expect(secondErrors.contains { $0.contains("is inaccessible due to") }, "\(secondErrors)")
    let subclass =
      "import OperationsCore\nfunc accept<T: KeyValueObservable>(_: T) {}\n"
      + "final class Own: Operation, @unchecked Sendable { func f() { accept(self) } }"
    #expect(try compile(subclass) == [])
  }

  /// Compiles a program with the compiler that built the tests, and returns the compiler's
  /// diagnostics.
  private func compile(_ program: String) throws -> [Substring] {
    let modules = BuiltFolder.path(of: "Modules")
    let moduleMap = BuiltFolder.path(of: "COperationsSystem.build/module.modulemap")
    let command = """
      swiftc -typecheck -swift-version 6 -I '\(modules)' \
      -Xcc '-fmodule-map-file=\(moduleMap)' - 2>&1 <<'END'
      \(program)
      END
      """
    let pipe = try #require(popen(command, "r"))
    defer { pclose(pipe) }
    var output: [UInt8] = []
    while case let byte = getc(pipe), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
  }
}
