// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import CursesTerminal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension TerminalTests {
  @Test("T18: The process does not ignore SIGTSTP while a frame is drawn")
  func stopRequestsAreNotIgnored() throws {
    let window = try PseudoTerminal(columns: 80, rows: 24)
    var terminal = try Terminal(
      owning: window.open(), type: "xterm-256color",
      options: Terminal.Options(characters: .unicode))
    let isDrawing = Atomic(true)
    let ignoredCount = Atomic(0)
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      var action = sigaction()
      while isDrawing.load(ordering: .acquiring) {
        sigaction(SIGTSTP, nil, &action)
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        if handler == unsafeBitCast(SIG_IGN, to: Int.self) {
          ignoredCount.add(1, ordering: .relaxed)
        }
      }
    }
    for round in 1...300 {
      var grid = Grid(size: terminal.size)
      for row in 0..<24 {
        for column in 0..<80 {
          grid[row: row, column: column] = Cell(round.isMultiple(of: 2) ? "x" : "y", style: .plain)
        }
      }
      terminal.present(grid)
      window.absorb(for: .milliseconds(2))
    }
    isDrawing.store(false, ordering: .releasing)
    group.wait()
    #expect(ignoredCount.load(ordering: .relaxed) == 0)
    terminal.close()
  }
}
