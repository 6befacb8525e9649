// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

@Suite("The subclass shapes with Foundation")
struct ShapeFixtureTests {
  @Test("H-8: a shape of the corpus compiles for Foundation and runs with it")
  func plainShape() throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(
      fileURLWithPath: BuiltFolder.path(of: "fixture-shapes-foundation"))
    process.arguments = ["--run", "plain", "4", "plain"]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.hasSuffix("report: ok\n"), "\(text)")
    #expect(process.terminationStatus == 0)
  }
}
