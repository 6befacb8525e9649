// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The compiler that built the tests.
enum Compiler {
  /// Compiles a program, and returns the lines that the compiler prints.
  static func diagnostics(
    of program: String, languageMode: String = "6"
  ) throws -> [Substring] {
    let modules = BuiltFolder.path(of: "Modules")
    let moduleMap = BuiltFolder.path(of: "COperationsSystem.build/module.modulemap")
    let command = """
      swiftc -typecheck -swift-version \(languageMode) -I '\(modules)' \
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
