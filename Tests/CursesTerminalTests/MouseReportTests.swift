// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Testing

@testable import CursesTerminal

@Suite("Reports of the mouse") struct MouseReportTests {
  private func press(row: Int, column: Int) -> Input {
    .mouse(MouseInput(.press, row: row, column: column))
  }

  @Test(
    "T51: A report is one action, for any column and wherever it is cut",
    arguments: [1, 94, 95, 222, 223, 224, 255, 256, 300, 4_096])
  func anyColumn(column: Int) {
    let bytes = Array("a\u{1B}[<0;\(column);7Mb".utf8)
    let expected: [Input] = [
      .character("a"), press(row: 6, column: column - 1), .character("b"),
    ]
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      let inputs = decoder.consume(bytes[..<cut]) + decoder.consume(bytes[cut...])
      #expect(inputs == expected, "cut after \(cut) bytes")
      #expect(decoder.patience == nil)
    }
    var decoder = KeyDecoder()
    #expect(bytes.flatMap { decoder.consume([$0]) } == expected)
  }

  @Test("MS-2: The left button and the wheel are actions, each of them")
  func buttons() {
    var decoder = KeyDecoder()
    let inputs = decoder.consume("\u{1B}[<0;1;1M\u{1B}[<0;1;1m\u{1B}[<64;2;3M\u{1B}[<65;2;3M".utf8)
    #expect(
      inputs == [
        press(row: 0, column: 0), .mouse(MouseInput(.wheelUp, row: 2, column: 1)),
        .mouse(MouseInput(.wheelDown, row: 2, column: 1)),
      ])
  }

  @Test("MS-3: Other buttons, movements, and buttons with a modifier have no effect")
  func others() {
    let ignored = Array(1...3) + [4, 8, 16, 20, 28, 32, 35, 66, 67, 68, 80, 128]
    for button in ignored {
      var decoder = KeyDecoder()
      #expect(
        decoder.consume("\u{1B}[<\(button);5;6Mq".utf8) == [.character("q")], "button \(button)")
    }
  }

  @Test(
    "MS-3: A malformed report becomes no key, wherever it is cut",
    arguments: [
      "<M", "<;;M", "<0;;1M", "<0;1M", "<0;1;2;3M", "<0;0;1M", "<0;1;0M", "<-1;2;3M", "<0;1;1A",
      "<0;1:2;3M", "<0;99999999999999999999;1M", "<0;1;1~", "<0;?;1M", "<64;1;1m",
      "<0;" + String(repeating: "1;", count: 200) + "M",
    ])
  func malformed(parameters: String) {
    let bytes = Array("\u{1B}[\(parameters)q".utf8)
    for cut in 0...min(bytes.count, 80) {
      var decoder = KeyDecoder()
      let inputs = decoder.consume(bytes[..<cut]) + decoder.consume(bytes[cut...])
      #expect(inputs == [.character("q")], "cut after \(cut) bytes")
    }
  }

  @Test("MS-3: A report whose end arrives too late becomes no key")
  func lateEnd() {
    let report = Array("\u{1B}[<0;120;34M".utf8)
    for cut in 3..<report.count {
      var decoder = KeyDecoder()
      #expect(decoder.consume(report[..<cut]) == [])
      #expect(decoder.patience == .seconds(1))
      #expect(decoder.expire() == [])
      #expect(decoder.consume(report[cut...]) == [], "cut after \(cut) bytes")
      #expect(decoder.consume("5j\u{1B}[A".utf8) == [.character("5"), .character("j"), .key(.up)])
    }
  }

  @Test("MS-3: The rest of a report whose first bytes were taken for a key becomes no key")
  func lateRest() {
    for (cut, key): (Int, Input) in [(1, .key(.escape)), (2, .alt("["))] {
      let report = Array("\u{1B}[<0;120;34M".utf8)
      for second in cut + 1...report.count {
        var decoder = KeyDecoder()
        #expect(decoder.consume(report[..<cut]) + decoder.expire() == [key])
        let inputs = decoder.consume(report[cut..<second]) + decoder.consume(report[second...])
        #expect(inputs == [], "cut after \(cut) and \(second) bytes")
        #expect(decoder.patience == nil)
        #expect(decoder.consume("5q".utf8) == [.character("5"), .character("q")])
      }
    }
  }

  @Test("MS-3: If the rest of a report does not arrive, later keys are keys")
  func missingRest() {
    let report = Array("\u{1B}[<0;120;34M".utf8)
    for cut in 1..<report.count {
      for second in cut..<report.count {
        var decoder = KeyDecoder()
        let inputs = decoder.consume(report[..<cut]) + decoder.expire()
        #expect(inputs.count == (cut < 3 ? 1 : 0))
        #expect(decoder.consume(report[cut..<second]) == [])
        while let patience = decoder.patience {
          #expect(patience <= .seconds(1))
          if cut >= 3 || second >= 3 {
            #expect(decoder.expire() == [])
          } else {
            _ = decoder.expire()
          }
        }
        #expect(
          decoder.consume("5j".utf8) == [.character("5"), .character("j")],
          "cut after \(cut) and \(second) bytes")
      }
    }
  }

  @Test("MS-3: Keys after Escape that are no report stay keys")
  func keysAfterEscape() {
    var decoder = KeyDecoder()
    #expect(decoder.consume([0x1B]) + decoder.expire() == [.key(.escape)])
    #expect(decoder.consume("[".utf8) == [])
    #expect(decoder.patience == .milliseconds(25))
    #expect(decoder.expire() == [.character("[")])
    #expect(decoder.consume("<5M".utf8) == [.character("<"), .character("5"), .character("M")])
    #expect(decoder.consume([0x1B]) + decoder.expire() == [.key(.escape)])
    #expect(decoder.consume("<5".utf8) == [.character("<"), .character("5")])
  }

  @Test("MS-3: A report that another sequence interrupts does not consume that sequence")
  func interrupted() {
    for report in ["\u{1B}[<", "\u{1B}[<0;12", "\u{1B}[<0;12;"] {
      var decoder = KeyDecoder()
      let inputs = decoder.consume((report + "\u{1B}[200~0;1M\u{1B}[201~q").utf8)
      #expect(inputs == [.paste("0;1M"), .character("q")], "\(report)")
    }
  }
}
