// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands
import TestSupport
import Testing

@testable import JobRun

@Suite("Records of a journal", .timeLimit(.minutes(5)), .onOwnThread)
struct JournalRecordTests {
  /// Texts that names and lines of output can contain.
  private static let hostileTexts = [
    "", " ", "a\"b", "a\\", "\\\"", "\\u0041", "\n", "a\r\nb", "\t", "\u{0}", "\u{1B}[2J", "\u{7F}",
    "\u{9B}31m", "\u{85}", "\u{2028}\u{2029}", "\u{202E}reversed", "\u{2066}", "ü", "e\u{301}",
    "漢字", "👩‍👩‍👧‍👦", "\u{10FFFF}", "\u{FFFD}", "\u{FEFF}", "{\"event\":\"finish\"}", "</script>",
    String(repeating: "x\u{1B}", count: 1_000),
  ]

  /// Returns the record of a line.
  private static func record(_ line: String) -> JournalRecord? {
    Array(line.utf8).withUnsafeBufferPointer { try? JournalRecord(line: $0) }
  }

  /// A record in which all values are set.
  private static func full(_ event: JournalRecord.Event, _ text: String) -> JournalRecord {
    var record = JournalRecord(event, time: 1)
    (record.attempt, record.boot, record.byRun, record.definition) = (2, text, true, text)
    (record.duration, record.files, record.host, record.job) = (.max, "x\(text)", text, text)
    (record.jobs, record.lastLine, record.origin) = ([text, text], text, text)
    (record.process, record.reason, record.state) = (.max, text, .skipped)
    (record.comment, record.id, record.name, record.submitted) = (text, .max, text, .max)
    (record.status, record.unneeded, record.version, record.waits) = (.min, true, 1, false)
    return record
  }

  @Test("RD-1: A line of the journal contains hostile texts unchanged", arguments: hostileTexts)
  func roundTrip(text: String) {
    let record = Self.full(.end, text)
    let line = record.line
    #expect(Self.record(line) == record)
    #expect(Self.record(line)?.job.map { Array($0.utf8) } == Array(text.utf8))
    // The line can be printed to a terminal.
    #expect(line.last == "\n" && line.unicodeScalars.count { $0 == "\n" } == 1)
    #expect(line.unicodeScalars.dropLast().allSatisfy { $0.properties.generalCategory != .control })
    #expect(!line.unicodeScalars.contains { $0.properties.isBidiControl })
  }

  @Test("RD-1: The keys of a line are in ascending order")
  func sortedKeys() throws {
    let line = Self.full(.end, "x").line
    var keys: [String] = []
    try JSONScanner.read(Array(line.utf8)) { scanner throws(JSONFault) in
      try scanner.readObject { scanner, key throws(JSONFault) in
        keys.append(key)
        try scanner.skipValue()
      }
    }
    #expect(keys.count == 24 && keys == keys.sorted())
  }

  @Test("RD-1: The records have the documented keys, and no keys without a value")
  func documentedLines() {
    func line(_ record: JournalRecord) -> String {
      var record = record
      record.time = 7
      return record.line
    }
    #expect(
      line(.runner(process: 4_711, boot: "b", host: "h"))
        == #"{"boot":"b","event":"runner","host":"h","process":4711,"time":7,"version":1}"# + "\n")
    #expect(
      line(.start("fetch", attempt: 1, files: "1-fetch.1", definition: "0123"))
        == #"{"attempt":1,"definition":"0123","event":"start","files":"1-fetch.1","job":"fetch","#
        + #""time":7}"# + "\n")
    var submission = SlurmSubmission(comment: "opq-1", name: "fetch")
    #expect(
      line(
        .start("fetch", attempt: 1, files: "1-fetch.1", definition: "0123", submission: submission))
        == #"{"attempt":1,"comment":"opq-1","definition":"0123","event":"start","files":"1-fetch.1","#
        + #""job":"fetch","name":"fetch","time":7}"# + "\n")
    (submission.id, submission.submitted) = (17, 1000)
    #expect(
      line(.submitted("fetch", attempt: 1, submission: submission))
        == #"{"attempt":1,"comment":"opq-1","event":"submitted","id":17,"job":"fetch","#
        + #""submitted":1000,"time":7}"# + "\n")
    #expect(
      line(.attempt("fetch", attempt: 1, status: 7, reason: "exit status 7"))
        == #"{"attempt":1,"event":"attempt","job":"fetch","reason":"exit status 7","status":7,"#
        + #""time":7}"# + "\n")
    #expect(
      line(.retry(["merge", "notify"]))
        == #"{"event":"retry","jobs":["merge","notify"],"time":7}"# + "\n")
    #expect(line(.finish()) == #"{"event":"finish","time":7}"# + "\n")
    let outcome = JobOutcome(
      state: .succeeded, attemptCount: 2, exitStatus: 0, origin: nil, reason: nil, lastLine: nil,
      duration: .milliseconds(1), isUnneeded: false)
    #expect(
      line(.end("fetch", outcome, definition: "0123"))
        == #"{"attempt":2,"definition":"0123","duration":1000000,"event":"end","job":"fetch","#
        + #""state":"succeeded","status":0,"time":7}"# + "\n")
  }

  @Test("RD-1: A record contains the whole outcome of a job", arguments: JobOutcome.State.allCases)
  func outcome(state: JobOutcome.State) {
    let outcome = JobOutcome(
      state: state, attemptCount: 3, exitStatus: 1, origin: "other", reason: "exit status 1",
      lastLine: "no such file", duration: .nanoseconds(12_345_678_901), isUnneeded: true)
    let record = JournalRecord.end(
      "job", outcome, definition: "0123", waits: true, byRun: true)
    #expect(record.outcome == outcome)
    #expect(Self.record(record.line) == record)
    #expect(record.waits == true && record.byRun == true)
  }

  @Test("RD-1: A record of the present time has the time of the wall clock in nanoseconds")
  func time() {
    let time = JournalRecord.finish().time
    // From 2024 to 2100.
    #expect((1_704_067_200_000_000_000..<4_102_444_800_000_000_000).contains(time))
    #expect(JournalRecord.runner().boot == ThisMachine.bootID && !ThisMachine.bootID.isEmpty)
  }

  @Test("RD-1: Unknown keys are ignored, and spaces are permitted")
  func unknownKeys() {
    let line = #" { "event" : "finish", "more": {"a": [1, -2.5e3, null, true, "x"]}, "time": 7 } "#
    #expect(Self.record(line) == JournalRecord(.finish, time: 7))
  }

  @Test("RD-1: Escape sequences that this program does not write are read")
  func otherEscapes() {
    let line = #"{"event":"retry","jobs":["\u0041\ud83d\ude00\/\b\f\r"],"time":7}"#
    #expect(Self.record(line)?.jobs == ["A😀/\u{8}\u{C}\r"])
  }

  @Test(
    "RD-6: A line that is not a complete record is refused",
    arguments: [
      "", "{}", "[]", "null", "{", "x", #"{"event":"finish","time":7"#,
      #"{"event":"finish","time":7}}"#, #"{"event":"finish","time":7} x"#,
      #"{"event":"finish"}"#, #"{"time":7}"#, #"{"event":"other","time":7}"#,
      #"{"event":"finish","time":"7"}"#, #"{"event":"finish","time":7.5}"#,
      #"{"event":"finish","time":99999999999999999999}"#, #"{"event":"finish","time":null}"#,
      #"{"event":"finish","time":7,}"#, #"{"event":"finish" "time":7}"#,
      #"{"event":"start","time":7}"#, #"{"event":"start","job":"a","time":7}"#,
      #"{"attempt":0,"event":"start","files":"f","job":"a","time":7}"#,
      #"{"attempt":1,"event":"start","files":"../f","job":"a","time":7}"#,
      #"{"attempt":1,"event":"start","files":"","job":"a","time":7}"#,
      #"{"attempt":1,"comment":"c","event":"start","files":"f","job":"a","time":7}"#,
      #"{"event":"submitted","job":"a","time":7}"#,
      #"{"event":"end","job":"a","time":7}"#,
      #"{"event":"end","job":"a","state":"done","time":7}"#,
      #"{"event":"end","state":"failed","time":7}"#, #"{"event":"retry","time":7}"#,
      #"{"event":"retry","jobs":[1],"time":7}"#, #"{"event":"retry","jobs":["\ud83d"],"time":7}"#,
      #"{"event":"retry","jobs":["\u00"],"time":7}"#, #"{"event":"retry","jobs":["\x"],"time":7}"#,
      "{\"event\":\"retry\",\"jobs\":[\"\u{1}\"],\"time\":7}", "\u{0}\u{0}\u{0}",
    ])
  func badLine(line: String) {
    #expect(Self.record(line) == nil)
  }

  @Test("RD-6: A line that is not UTF-8 or that is deeply nested is refused")
  func badBytes() {
    let bytes = Array(#"{"event":"retry","jobs":[""#.utf8) + [0xFF] + Array(#""],"time":7}"#.utf8)
    #expect(bytes.withUnsafeBufferPointer { try? JournalRecord(line: $0) } == nil)
    let depth = 100_000
    let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(Self.record(#"{"event":"finish","more":\#(nested),"time":7}"#) == nil)
  }
}
