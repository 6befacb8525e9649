// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

@Suite struct ErrorLineTests {
  @Test("T29: A reported error is one line without control characters, of bounded length")
  func hostileMessage() {
    let reason = "\u{1B}[2J\r\n\u{9B}1m\u{202E}" + String(repeating: "long ", count: 100_000)
    let line = Program.errorLine(reason)
    #expect(line.hasSuffix("\n"))
    #expect(line.dropLast().unicodeScalars.allSatisfy { !$0.isObeyed })
    #expect(line.count < 1_100)
  }
}
