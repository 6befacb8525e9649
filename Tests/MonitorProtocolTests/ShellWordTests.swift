// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("Texts as words of a shell") struct ShellWordTests {
  @Test(
    "RD-3: A text is quoted unless a shell reads each character as it is",
    arguments: [
      ("deploy", "deploy"), ("/tmp/a-b_c.d+e,f:g@h%i", "/tmp/a-b_c.d+e,f:g@h%i"), ("", "''"),
      ("align[2]", "'align[2]'"), ("it's a $(test)", #"'it'\''s a $(test)'"#), ("~", "'~'"),
      ("A=B", "'A=B'"), ("größe", "'größe'"), ("a\nb", "'a\nb'"), ("'", #"''\'''"#),
    ])
  func words(text: String, word: String) { #expect(text.shellWord == word) }
}
