// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import Testing

@testable import MonitorClient
@testable import OpqTop

@Suite("The list of processes") struct ProcessTableTests {
  private func found(_ process: Int32, _ name: String) -> ProcessFinder.Found {
    let start = MonitorTime(nanoseconds: 0)
    var hello = Hello(
      processName: name, processID: process, isReadOnly: false, anchor: start + .seconds(12),
      anchorSecondsSince1970: 1_000, processStarted: start)
    hello.totalCount = 34
    return ProcessFinder.Found(
      path: "/run/\(process)", processID: process,
      answer: .success(.init(hello: hello, versions: .current)))
  }

  @Test func wideAndCombinedCharactersAreAligned() {
    let text = ProcessTable.text(of: [
      found(7, "tiles"), found(4711, "漢字漢字"), found(12, "e\u{301}tude"), found(8, "\u{1B}[2J"),
    ])
    let lines = text.split(separator: "\n")
    #expect(lines.count == 5 && lines[0].hasPrefix(" PID  PROGRAM"))
    // The columns after the name of the program begin at the same column of the terminal.
    let ends = lines.dropFirst().map { line in
      let end = line.firstRange(of: "12.0s")?.lowerBound ?? line.startIndex
      return TerminalText.width(of: String(line[..<end]))
    }
    #expect(Set(ends).count == 1 && ends[0] > 0, "\(text)")
    #expect(!text.unicodeScalars.contains("\u{1B}"))
  }

  @Test func aProcessThatCannotBeWatchedHasItsReasonAtTheEndOfTheLine() {
    let error = AttachError(.lost, "it does not answer")
    let text = ProcessTable.text(of: [
      found(4711, "tiles"),
      ProcessFinder.Found(path: "/run/12", processID: 12, answer: .failure(error)),
    ])
    #expect(
      text == """
         PID  PROGRAM  UPTIME  OPS  MODE  PROTO
        4711  tiles     12.0s   34  rw    \(ProtocolVersions.current)
          12  -             -    -  -     -      it does not answer

        """)
  }
}
