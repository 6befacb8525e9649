// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Foundation
import MonitorProtocol
import RunAnalysis
import OperationsCollector
import Testing

@testable import OpqTop

/// The exact output of a frame in each format of batch mode. `BatchOutput.md` documents it for
/// users.
@Suite struct BatchFormTests {
  private static let hostile = "a\tb\nc\\d\u{1B}[2J\r\u{9B}1m\u{7F}\u{202E}\u{2028}é漢"

  private func moment(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  private func hello(bootID: String = ProcessStart.bootID) -> Hello {
    var hello = Hello(
      processName: "", processID: 1, isReadOnly: true, anchor: moment(1_000),
      anchorSecondsSince1970: 0, processStarted: moment(0))
    hello.bootID = bootID
    return hello
  }

  /// Returns a frame with two queues, with an operation in each of three states, and with two
  /// warnings.
  private func frame(name: String = "tile", host: String = "") -> BatchFrame {
    var hello = Hello(
      processName: "demo", processID: 4711, isReadOnly: false, anchor: moment(5),
      anchorSecondsSince1970: 1_700_000_000.25, processStarted: moment(0))
    hello.host = host
    let counts = StateCounts(waiting: 1, executing: 1, finished: 1, total: 3)
    return BatchFrame(
      hello: hello, time: moment(7.5),
      queues: [
        QueueReport(id: .init(2), name: "net", isSuspended: true),
        QueueReport(id: .init(1), name: "cpu", counts: counts, width: 2),
      ],
      operations: [
        OperationReport(
          id: .init(9), name: "merge", className: "Merge", queue: .init(1), state: .waiting,
          priority: .high, dependencies: [.init(3), .init(4)], unmetDependencyCount: 1),
        OperationReport(
          id: .init(4), name: name, className: "Tile", queue: .init(1), state: .executing,
          started: moment(6)),
        OperationReport(
          id: .init(3), name: "", className: "Tile", queue: .init(1), state: .finished,
          started: moment(1), finished: moment(1.25)),
      ],
      warnings: [
        MonitorWarning(
          kind: .suspendedWithReady, queue: .init(2), count: 1, since: moment(6.25)),
        MonitorWarning(kind: .cycle, operations: [.init(9)], awaited: [.init(4)]),
      ], lostChanges: 3)
  }

  private func object(_ line: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test func aFrameAsJSON() {
    let line =
      #"{"counts":{"cancelled":0,"cancelling":0,"executing":1,"failed":0,"finished":1,"held":0,"#
      + #""ready":0,"total":3,"waiting":1},"lostChanges":3,"operations":["#
      + #"{"class":"Tile","dependencies":[],"id":3,"kind":"Tile","name":"","priority":0,"queue":"cpu","#
      + #""seconds":0.25,"secondsInState":6.25,"state":"finished","unmet":0},"#
      + #"{"class":"Tile","dependencies":[],"id":4,"kind":"Tile","name":"tile","priority":0,"queue":"cpu","#
      + #""seconds":1.5,"secondsInState":1.5,"state":"executing","unmet":0},"#
      + #"{"class":"Merge","dependencies":[3,4],"id":9,"kind":"Merge","name":"merge","priority":4,"queue":"cpu","#
      + #""state":"waiting","unmet":1}],"process":{"name":"demo","pid":4711},"queues":["#
      + #"{"counts":{"cancelled":0,"cancelling":0,"executing":1,"failed":0,"finished":1,"held":0,"ready":0,"#
      + #""total":3,"waiting":1},"id":1,"isSuspended":false,"name":"cpu","width":2},"#
      + #"{"counts":{"cancelled":0,"cancelling":0,"executing":0,"failed":0,"finished":0,"held":0,"ready":0,"#
      + #""total":0,"waiting":0},"id":2,"isSuspended":true,"name":"net"}],"#
      + #""schema":"opq.frame/1","time":{"monotonic":7500000000,"#
      + #""wallClock":"2023-11-14T22:13:22.750Z"},"warnings":["#
      + #"{"awaited":[],"count":1,"kind":"suspended-with-ready","operations":[],"queue":"net","#
      + #""seconds":1.25},{"awaited":[4],"count":0,"kind":"cycle","operations":[9]}]}"#
    #expect(frame().jsonLine() == line + "\n")
  }

  @Test func thePageDocumentsEveryKey() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let page = try String(
      contentsOf: source.appendingPathComponent("../../Sources/opq-top/BatchOutput.md"),
      encoding: .utf8)
    func check(_ value: Any) {
      if let object = value as? [String: Any] {
        for (key, value) in object {
          #expect(page.contains("`\(key)`"), "\(key)")
          check(value)
        }
      } else if let array = value as? [Any] {
        for value in array { check(value) }
      }
    }
    check(try object(frame(host: "web1").jsonLine()))
    for field in BatchFrame.Operation.Field.allCases {
      #expect(page.contains("| `\(field.rawValue)` |"), "\(field)")
    }
  }

  @Test("With fields, operations have only these, and the frame stays complete")
  func jsonWithFields() throws {
    let all = try object(frame().jsonLine())
    let some = try object(frame().jsonLine(fields: [.name, .id]))
    #expect(Set(some.keys) == Set(all.keys))
    let operations = try #require(some["operations"] as? [[String: Any]])
    #expect(operations.count == 3)
    for operation in operations { #expect(Set(operation.keys) == ["id", "name"]) }
  }

  @Test("T29: JSON contains any name, and no control character")
  func jsonIsSafe() throws {
    let line = frame(name: Self.hostile).jsonLine()
    #expect(line.unicodeScalars.dropLast().allSatisfy { !$0.isObeyed })
    #expect(line.unicodeScalars.last == "\n")
    let again = try JSONDecoder().decode(BatchFrame.self, from: Data(line.utf8))
    #expect(again.operations[1].name == Self.hostile)
    #expect(again == frame(name: Self.hostile))
  }

  @Test func aFrameAsTSV() {
    var printer = FramePrinter(BatchOptions(format: .tsv))
    let lines = """
      2023-11-14T22:13:22.750Z\t3\tfinished\tcpu\tTile\t0\t\t0\t0.250\t6.250\t\t\t\tTile\t\t\t\t
      2023-11-14T22:13:22.750Z\t4\texecuting\tcpu\tTile\t0\t\t0\t1.500\t1.500\ttile\t\t\tTile\t\t\t\t
      2023-11-14T22:13:22.750Z\t9\twaiting\tcpu\tMerge\t4\t3,4\t1\t\t\tmerge\t\t\tMerge\t\t\t\t

      """
    let header =
      "time\tid\tstate\tqueue\tclass\tpriority\tdependencies\tunmet\tseconds\tsecondsInState\tname\t"
      + "error\tcancellation\tkind\tattempts\tprogress\tstatus\tdelay\n"
    #expect(printer.text(of: frame()) == header + lines)
    // The second frame does not repeat the line with the names of the columns.
    #expect(printer.text(of: frame()) == lines)
  }

  @Test func theFieldsOfTSVFollowTheRequest() {
    let table = FrameTSV(fields: [.name, .id])
    #expect(table.header == "time\tname\tid\n")
    #expect(
      table.text(of: frame()).split(separator: "\n")[2] == "2023-11-14T22:13:22.750Z\tmerge\t9")
  }

  @Test("T28, T29: a value of TSV stays in its column, for any contents, and can be restored")
  func valuesOfTSVAreEscaped() throws {
    #expect(
      EscapedText.escaped("a\tb\nc\\d\u{1B}e\u{9B}\u{202E}é") == #"a\tb\nc\\d\x1be\x9b\u202eé"#)
    let values = (0...0x2100).compactMap(Unicode.Scalar.init).map { "\($0)x\($0)\\n\($0)" }
    for value in values + [Self.hostile, "\\", "\\\\t", ""] {
      let escaped = EscapedText.escaped(value)
      #expect(escaped.unicodeScalars.allSatisfy { !$0.isObeyed }, "\(escaped)")
      #expect(try unescaped(escaped) == value, "\(escaped)")
    }
    let line = FrameTSV(fields: [.id, .name]).text(of: frame(name: Self.hostile))
    #expect(line.split(separator: "\n")[1].split(separator: "\t").count == 3)
  }

  /// Restores an escaped value as `BatchOutput.md` describes.
  private func unescaped(_ text: String) throws -> String {
    var value = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\" else {
        value.append(scalar)
        continue
      }
      let kind = rest.popFirst()
      switch kind {
      case "t": value.append("\t")
      case "n": value.append("\n")
      case "\\": value.append("\\")
      default:
        let count = kind == "x" ? 2 : 4
        let number = try #require(UInt32(String(rest.prefix(count)), radix: 16))
        value.append(try #require(Unicode.Scalar(number)))
        rest = rest.dropFirst(count)
      }
    }
    return String(value)
  }

  @Test("RM-1: A frame of another machine names the host in each format")
  func hosts() {
    let frame = frame(host: "web1")
    #expect(
      frame.jsonLine().contains(#""process":{"host":"web1","name":"demo","pid":4711}"#))
    let text = FrameText(fields: nil, isUnicode: true).text(of: frame)
    #expect(text.hasPrefix("2023-11-14T22:13:22.750Z demo[4711] on web1 total 3: "))
    let table = FrameTSV(fields: [.id], namesProcess: true, namesHost: true)
    #expect(table.header == "time\thost\tpid\tid\n")
    #expect(table.text(of: frame).hasPrefix("2023-11-14T22:13:22.750Z\tweb1\t4711\t3\n"))
    // The frame of a process of this machine has the column too, and it is empty.
    #expect(table.text(of: self.frame()).hasPrefix("2023-11-14T22:13:22.750Z\t\t4711\t3\n"))
  }

  @Test("RM-8: The name of a host cannot control the terminal in any format")
  func hostileHosts() {
    let frame = frame(host: Self.hostile)
    let text = FrameText(fields: nil, isUnicode: true).text(of: frame)
    let table = FrameTSV(fields: [.id], namesProcess: true, namesHost: true).text(of: frame)
    for output in [text, table, frame.jsonLine()] {
      #expect(
        output.split(separator: "\n").allSatisfy {
          $0.unicodeScalars.allSatisfy { !$0.isObeyed || $0 == "\t" }
        })
    }
  }

  @Test func aFrameAsText() {
    let text = FrameText(fields: nil, isUnicode: true).text(of: frame())
    #expect(
      text == """
        2023-11-14T22:13:22.750Z demo[4711] total 3: waiting 1, ready 0 (0 held), executing 1, \
        finished 1 (0 failed), cancelled 0 (+0 cancelling); state changes not recorded 3
        QUEUE            WIDTH   TOTAL    WAIT   READY    EXEC FAILED FINISHED CANCELLED
        cpu                  2       3       1       0       1      0        1         0
        net          suspended       0       0       0       0      0        0         0
              ID STATE      QUEUE           DEPS   SECONDS OPERATION
              #3 finished   cpu              0/0     0.250 Tile
              #4 executing  cpu              0/0     1.500 tile
              #9 waiting    cpu              1/2         - merge
        ! suspended-with-ready in net: 1, for 1.250 s
        ! cycle of #9 waiting for #4: 0


        """)
    let fields = FrameText(fields: [.name, .dependencies, .id], isUnicode: true).text(of: frame())
    #expect(fields.contains("\nNAME         DEPENDENCIES       ID\n"))
    #expect(fields.contains("\nmerge        3,4                #9\n"))
  }

  @Test("Each form has the number, the state and the error of failed operations, escaped")
  func failures() throws {
    var report = OperationReport(
      id: .init(3), name: "tile", className: "Tile", queue: .init(1), state: .failed,
      started: moment(1), finished: moment(1.25))
    report.errorText = "disk full\n\u{1B}[2J"
    let counts = StateCounts(finished: 2, failed: 1, total: 2)
    let frame = BatchFrame(
      hello: hello(), time: moment(7.5),
      queues: [QueueReport(id: .init(1), name: "cpu", counts: counts, width: 2)],
      operations: [report], warnings: [], lostChanges: 0)
    let json = frame.jsonLine()
    #expect(json.contains(#""failed":1,"finished":2"#) && json.contains(#""state":"failed""#))
    #expect(json.contains(#""error":"disk full\n\u001b[2J""#))
    #expect(try JSONDecoder().decode(BatchFrame.self, from: Data(json.utf8)) == frame)
    let tsv = FrameTSV(fields: [.state, .error]).text(of: frame)
    #expect(tsv.hasSuffix(#"\#tfailed\#tdisk full\n\x1b[2J"# + "\n"))
    let text = FrameText(fields: [.state, .error], isUnicode: true).text(of: frame)
    #expect(text.contains("finished 2 (1 failed), cancelled 0"))
    #expect(text.contains("failed     disk full ·[2J"))
    #expect(text.unicodeScalars.allSatisfy { !$0.isObeyed || $0 == "\n" })
  }

  @Test(
    "A frame counts the completion blocks that have not begun, if there are any", arguments: [0, 3])
  func completionBlocks(count: Int) {
    var state = ProcessState()
    var update = Update(time: moment(7))
    update.unstartedCompletionBlockCount = count
    state.apply(update)
    let frame = state.frame(of: hello(), at: moment(7.5))
    let json = frame.jsonLine()
    #expect(json.contains(#""unstartedCompletionBlockCount":3"#) == (count == 3))
    #expect(json.contains("CompletionBlock") == (count == 3))
    let text = FrameText(fields: [.id], isUnicode: true).text(of: frame)
    #expect(text.contains("; completion blocks not begun 3\n") == (count == 3))
    #expect(text.contains("completion") == (count == 3))
  }

  @Test("Each form has what cancelled an operation")
  func cancellations() throws {
    var failed = OperationReport(
      id: .init(3), name: "bad\t", className: "Tile", queue: .init(1), state: .failed)
    failed.errorText = "disk full"
    func report(
      _ number: UInt64, _ cause: OperationReport.CancellationCause
    ) -> OperationReport {
      var report = OperationReport(
        id: .init(number), name: "tile", className: "Tile", queue: .init(1), state: .cancelled)
      report.cancellationCause = cause
      return report
    }
    let reports = [
      failed, report(4, .dependency(.init(3))), report(5, .code(reason: "closing")),
      report(6, .queue(.init(1), reason: nil)), report(7, .timeLimit),
      report(8, .viewer(CommandOrigin(processID: 123, userID: 1_000))),
    ]
    let frame = BatchFrame(
      hello: hello(), time: moment(7.5), queues: [QueueReport(id: .init(1), name: "cpu")],
      operations: reports, warnings: [], lostChanges: 0)
    let json = frame.jsonLine()
    for part in [
      #""cancellation":{"cause":"dependency","operation":3,"sentence":"cancelled because #3 “bad\t” failed: disk full"}"#,
      #""cancellation":{"cause":"code","reason":"closing","sentence":"cancelled by code: closing"}"#,
      #""cancellation":{"cause":"queue","sentence":"cancelled with all operations of queue “cpu”"}"#,
      #""cancellation":{"cause":"timeout","sentence":"cancelled because a time limit was reached"}"#,
      #""cancellation":{"cause":"viewer","pid":123,"sentence":"cancelled by a viewer (process 123, user 1000)","uid":1000}"#,
    ] {
      #expect(json.contains(part), "\(part)")
    }
    #expect(try JSONDecoder().decode(BatchFrame.self, from: Data(json.utf8)) == frame)
    let tsv = FrameTSV(fields: [.id, .cancellation]).text(of: frame).split(separator: "\n")
    #expect(tsv[0].hasSuffix("Z\t3\t"))
    #expect(tsv[1].hasSuffix(#"Z\#t4\#tcancelled because #3 “bad\t” failed: disk full"#))
    let text = FrameText(fields: [.state, .cancellation], isUnicode: true).text(of: frame)
    #expect(text.contains("cancelled  cancelled by code: closing\n"))
    #expect(text.contains("failed     -\n"))
  }

  @Test("T33: columns are aligned for characters of any width")
  func wideNamesAreAligned() {
    for name in [
      "漢字漢字", "e\u{301}\u{302}e\u{301}", "한국어 이름", "\u{1F468}\u{200D}\u{1F469}", "\u{1B}[2J", "",
    ] {
      let text = FrameText(fields: [.name, .state], isUnicode: true).text(of: frame(name: name))
      for line in text.split(separator: "\n").dropFirst(5).prefix(3) {
        let state = line.split(separator: " ").last ?? ""
        let width = TerminalText.width(of: String(line.dropLast(state.count)))
        #expect(width == 13, "\(name): \(line)")
      }
    }
    let long = String(repeating: "漢", count: 1_000)
    let text = FrameText(fields: [.name, .state], isUnicode: true).text(of: frame(name: long))
    #expect(text.contains("漢…  executing\n"))
    #expect(text.contains("\nmerge                            waiting\n"))
  }

  @Test("T28, T29: text contains no control characters, for any names")
  func textIsSafe() {
    let text = FrameText(fields: nil, isUnicode: true).text(of: frame(name: Self.hostile))
    #expect(text.unicodeScalars.allSatisfy { !$0.isObeyed || $0 == "\n" })
    #expect(text.split(separator: "\n").count == 10)
    let ascii = FrameText(fields: nil, isUnicode: false).text(of: frame(name: Self.hostile))
    #expect(ascii.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
  }
}
