// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("Filters")
struct OperationFilterTests {
  private static let now = MonitorTime(nanoseconds: 100_000_000_000)

  private static let report = OperationReport(
    id: .init(1042), name: "Download tiles z=14", className: "DownloadOperation",
    queue: QueueReport.ID(1), state: .executing, priority: .high,
    started: MonitorTime(nanoseconds: 90_000_000_000))

  /// Kinds with signs of filters, and with scalars that are one character together with such a sign.
  static let hostileKinds = [
    "", "a", "\"", "\"\"", "say \"x\"", "\"x", "x\"", " a|b ", "!a", "=a", ":", "\u{301}x",
    "\u{600}", "\u{200D}", "a\"\u{301}b", "👩‍👩‍👧‍👦", "\u{1B}[2J\n", "#7",
  ]

  private func matches(_ text: String, _ report: OperationReport = Self.report) throws -> Bool {
    try OperationFilter(text).matches(report, queueName: "net io", at: Self.now)
  }

  @Test(
    "Operations that match",
    arguments: [
      "", "  ", "tiles", "TILES", "download", "\"tiles z\"", "z=14", "state:executing",
      "state:exec", "STATE:Exec", "queue:io", "queue:\"net io\"", "class:download", "kind:download",
      "name:tiles",
      "priority:high", "age>5s", "age>9.9", "age<11s", "age>9999ms", "age<1m", "age<1h", "#1042",
      "!merge", "!state:waiting", "merge|tiles", "state:ready|state:executing",
      "tiles queue:io !merge", "!merge|upload", "state:e|held", "queue:=\"net io\"",
      "kind:=DownloadOperation", "CLASS:=DownloadOperation", "name:=\"Download tiles z=14\"",
      "!queue:=io", "queue:=io|kind:=DownloadOperation", "queue:=#1", "QUEUE:=#1", "!queue:=#2",
      "queue:=\"net io\" queue:=#1", "!queue:=\"#1\"",
    ])
  func matching(text: String) throws { #expect(try matches(text)) }

  @Test(
    "Operations that do not match",
    arguments: [
      "merge", "!tiles", "state:ready", "queue:cpu", "class:Merge", "kind:Merge", "priority:low",
      "age>10s",
      "age<5s", "#104", "tiles merge", "merge|upload", "!merge|tiles", "\"state:executing\"",
      "\"#1042\"", "name:merge", "queue:=io", "queue:=\"net io \"", "queue:=\"Net io\"",
      "kind:=downloadoperation", "kind:=Download", "class:=Operation", "name:=tiles",
      "queue:\"=net io\"", "queue:=\"\"", "\"queue:=net io\"",
      "queue:=#2", "queue:=#11", "queue:=\"#1\"", "queue:#1", "queue:=#+1", "queue:=#", "name:=#1",
      "queue:=#99999999999999999999",
    ])
  func notMatching(text: String) throws { #expect(try !matches(text)) }

  @Test("kind: means the kind that the program has set, and class: the class")
  func kinds() throws {
    var report = Self.report
    report.givenKind = "fetch"
    #expect(try matches("kind:Fetch", report) && matches("class:download", report))
    #expect(try !matches("kind:download", report) && !matches("class:fetch", report))
    report.name = ""
    #expect(try matches("fetch", report) && !matches("download", report))
  }

  @Test(
    "Invalid filters and their messages",
    arguments: [
      (
        "state:idle",
        "state must be waiting, ready, held, executing, cancelling, finished, "
          + "failed, cancelled, succeeded, not idle"
      ),
      (
        "color:red",
        "unknown field color; the fields are state:, queue:, kind:, class:, priority:, "
          + "age> and age<"
      ),
      ("state:", "a term or value is missing after state:"),
      ("kind:=", "a term or value is missing after kind:="),
      ("kind:\"\"", "a term or value is missing after kind:"),
      ("a\"\"\"", "a quotation mark is not closed"),
      ("priority:=high", "priority must be verylow, low, normal, high, veryhigh, not =high"),
      ("!", "a term or value is missing after !"),
      ("a|", "a term or value is missing after |"),
      ("\"a", "a quotation mark is not closed"),
      ("age>soon", "age must be a time such as 5s or 500ms, not soon"),
      ("age>-1s", "age must be a time such as 5s or 500ms, not -1s"),
      ("#x", "# must be a number, not x"),
      ("priority:big", "priority must be verylow, low, normal, high, veryhigh, not big"),
    ])
  func errors(text: String, sentence: String) {
    let error = #expect(throws: OperationFilterError.self) { try OperationFilter(text) }
    #expect(error?.description == sentence)
  }

  @Test("Between quotation marks, two quotation marks are one, so that each text is an exact value")
  func quotations() throws {
    var report = Self.report
    for kind in Self.hostileKinds {
      report.givenKind = kind
      let value = OperationFilter.quoted(kind)
      for text in ["kind:=\(value)", "tiles kind:=\(value)", "merge|kind:=\(value)"] {
        #expect(try matches(text, report), "\(text)")
        report.givenKind = kind + "x"
        #expect(try !matches(text, report), "\(text)")
        report.givenKind = kind
      }
      report.name = "<\(kind)>"
      if !kind.isEmpty { #expect(try matches(value, report), "\(value)") }
      report.name = Self.report.name
    }
    #expect(OperationFilter.quoted("say \"x\"") == "\"say \"\"x\"\"\"")
  }

  @Test("A filter with an exact name of a queue depends on the names of queues")
  func exactQueuesDependOnNames() throws {
    #expect(try OperationFilter("a|queue:=io").dependsOnQueueNames)
    #expect(try !OperationFilter("kind:=io").dependsOnQueueNames)
  }

  @Test(
    "A process before version 1.4 receives no exact values and no quotation marks in values",
    arguments: [
      ("kind:=hash", "kind:\"hash\""), ("!Queue:=\"net io\"|a", "!queue:\"net io\"|a"),
      ("name:==a", "name:\"=a\""), ("queue:\"=io\"", "queue:\"=io\""), ("a \"b c\"", "a \"b c\""),
      ("class:=\"a\"\"bc\"\"d\"", "class:\"bc\""), ("\"say \"\"x\"\"\" tiles", "\"say \" tiles"),
      ("priority:high|age>5s #7", "priority:high|age>5s #7"), ("queue:=\"#3\"", "queue:\"#3\""),
    ])
  func exactValuesForEarlierVersions(text: String, sent: String) throws {
    let filter = try OperationFilter(text)
    for minor: UInt32 in [2, 3] {
      #expect(filter.understood(by: ProtocolVersions(major: 1, minor: minor)).text == sent)
    }
    #expect(filter.understood(by: .current).text == text)
  }

  @Test("A process before version 1.2 receives the class instead of an exact kind")
  func exactKindsForTheFirstVersions() throws {
    let filter = try OperationFilter("kind:=\"a b\" state:failed")
    let sent = filter.understood(by: ProtocolVersions(major: 1, minor: 1)).text
    #expect(sent == "class:\"a b\" #0")
  }

  @Test(
    "For a process before version 1.4, an exact value without other characters matches all operations"
  )
  func emptyExactValuesForEarlierVersions() throws {
    let versions = ProtocolVersions(major: 1, minor: 3)
    for text in ["queue:=\"\"", "kind:=\"\"\"\"", "\"\"\"\""] {
      let filter = try OperationFilter(text).understood(by: versions)
      #expect(filter.matches(Self.report, queueName: "net io", at: Self.now), "\(filter.text)")
    }
  }

  @Test("The id of a queue has no process number, and matches in each process")
  func queueIDs() throws {
    var report = Self.report
    let queue = try #require(QueueReport.ID(1).numbered(2))
    let id = try #require(report.id.numbered(2))
    report = OperationReport(
      id: id, name: "", className: "", queue: queue, state: .ready, priority: .normal)
    #expect(try matches("queue:=#1", report) && matches("2# queue:=#1", report))
    #expect(try !matches("queue:=#2", report) && !matches("1# queue:=#1", report))
    #expect(try OperationFilter("2# queue:=#1").asked(of: 2).text.hasSuffix(" queue:=#1"))
  }

  @Test("For a process before version 1.4, the id of a queue matches all operations")
  func queueIDsForEarlierVersions() throws {
    let filter = try OperationFilter("queue:=io queue:=#3")
    let sent = filter.understood(by: ProtocolVersions(major: 1, minor: 3))
    #expect(sent.matches(Self.report, queueName: "io", at: Self.now))
    #expect(!sent.matches(Self.report, queueName: "net", at: Self.now))
    #expect(filter.understood(by: .current).text == filter.text)
  }

  @Test func aPrefixOfSeveralStatesMatchesAllOfThem() throws {
    var report = Self.report
    for (state, isMeant) in [
      (OperationState.cancelled, true), (.cancelling, true), (.executing, false),
    ] {
      report.state = state
      #expect(try matches("state:canc", report) == isMeant)
    }
    report.state = .cancelling
    #expect(try !matches("state:cancelled", report))
  }

  @Test func finishedMatchesFailedOperationsAndSucceededDoesNot() throws {
    var report = Self.report
    report.state = .failed
    for (word, isMeant) in [
      ("finished", true), ("fin", true), ("failed", true), ("f", true), ("succeeded", false),
      ("s", false), ("cancelled", false),
    ] {
      #expect(try matches("state:\(word)", report) == isMeant, "\(word)")
    }
    report.state = .finished
    for (word, isMeant) in [("finished", true), ("failed", false), ("succeeded", true)] {
      #expect(try matches("state:\(word)", report) == isMeant, "\(word)")
    }
  }

  @Test(
    "For a process that knows no failures, only the words that it refuses are replaced",
    arguments: [
      ("state:failed", "#0"), ("STATE:Fail|a", "#0|a"), ("!state:\"failed\"", "!#0"),
      ("state:succeeded", "state:finished"), ("state:s", "state:finished"), ("state:f", "state:f"),
      ("state:finished state:canc", "state:finished state:canc"),
      ("failed \"state:failed\"", "failed \"state:failed\""),
      ("name:failed", "name:failed"), ("kind:hash", "class:hash"),
      ("!KIND:\"a b\"|kind:c", "!class:\"a b\"|class:c"),
    ])
  func wordsForEarlierVersions(text: String, sent: String) throws {
    let filter = try OperationFilter(text)
    #expect(filter.understood(by: ProtocolVersions(major: 1, minor: 1)).text == sent)
    #expect(filter.understood(by: .current).text == text)
  }

  @Test func theAgeOfAFinishedOperationIsItsRunTime() throws {
    var report = Self.report
    report.state = .finished
    report.finished = MonitorTime(nanoseconds: 92_000_000_000)
    #expect(try matches("age<3s", report))
    report.started = nil
    #expect(try !matches("age<3s", report))
    #expect(try !matches("age>0", report))
  }

  @Test("A lower bound of the time in a state matches only age>")
  func aLowerBoundMatchesOlder() throws {
    var report = Self.report
    report.state = .executing
    report.started = nil
    #expect(try !matches("age>1s", report))
    report.foundExecuting = MonitorTime(nanoseconds: 98_000_000_000)
    #expect(try matches("age>1s", report))
    #expect(try !matches("age>3s", report))
    #expect(try !matches("age<3s", report))
  }

  @Test func anOperationWithoutANameIsFoundByItsClass() throws {
    var report = Self.report
    report.name = ""
    #expect(try matches("downloadoper", report))
  }

  @Test func onlyAgesDependOnTheTime() throws {
    #expect(try OperationFilter("a|age>5").dependsOnTime)
    #expect(try !OperationFilter("a state:ready").dependsOnTime)
  }
}
