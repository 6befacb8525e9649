// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import MonitorProtocol

/// Tests of the sentences about what cancelled an operation.
@Suite struct CancellationTextTests {
  private typealias Cause = OperationReport.CancellationCause

  private static func report(
    _ number: UInt64, _ state: OperationState = .cancelled, name: String = "",
    className: String = "Job", _ cause: Cause? = nil, error: String? = nil
  ) -> OperationReport {
    var report = OperationReport(
      id: .init(number), name: name, className: className, queue: .init(1), state: state)
    report.cancellationCause = cause
    report.errorText = error
    return report
  }

  private static let known = [
    report(3, name: "index", className: "GroupOperation"),
    report(4, .failed, name: "t", className: "TimeoutOperation<Int>"),
    report(5, name: "r", className: "RetryOperation<Int>"),
    report(6, .failed, name: "bad", error: "disk full"),
    report(7, .cancelled, .dependency(.init(6))), report(8, .cancelled, .dependency(.init(7))),
    report(9, .cancelled, .dependency(.init(8))),
    report(10, .failed, name: "", className: "Job"),
    report(11, name: "user", .viewer(CommandOrigin(processID: 123, userID: 1_000))),
    report(12, name: "mine", .code(reason: "no longer needed")), report(13, name: "old"),
    report(14, name: "member", .container(.init(3))),
    report(15, .finished, name: "done"), report(16, .cancelled, .dependency(.init(99))),
    report(17, .cancelled, .dependency(.init(18))), report(18, .cancelled, .dependency(.init(17))),
  ]

  private static func sentence(
    _ cause: Cause?, in known: [OperationReport] = known, isUnicode: Bool = true
  ) -> String? {
    let reports = Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) })
    var text = CancellationText(
      isUnicode: isUnicode, queueName: { [.init(1): "io", .init(2): ""][$0] }
    ) { reports[$0] }
    return text.sentence(about: report(1_000, .cancelled, cause))
  }

  @Test(
    "The sentence names the cause",
    arguments: [
      (.code(reason: nil), "cancelled by code"),
      (.code(reason: "shutting down"), "cancelled by code: shutting down"),
      (.container(.init(3)), "cancelled with its group #3 “index”"),
      (.container(.init(4)), "cancelled with its timeout #4 “t”"),
      (.container(.init(5)), "cancelled with its retry #5 “r”"),
      (.container(.init(99)), "cancelled with #99, an operation that is not known"),
      (.timeout(.init(4)), "cancelled because #4 “t” reached its time limit"),
      (
        .timeout(.init(99)),
        "cancelled because #99, an operation that is not known, reached its time limit"
      ),
      (.timeLimit, "cancelled because a time limit was reached"),
      (.queue(.init(1), reason: nil), "cancelled with all operations of queue “io”"),
      (
        .queue(.init(1), reason: "shutting down"),
        "cancelled with all operations of queue “io”: shutting down"
      ),
      (.queue(.init(2), reason: nil), "cancelled with all operations of its queue"),
      (.queue(.init(99), reason: nil), "cancelled with all operations of its queue"),
      (
        .viewer(CommandOrigin(processID: 123, userID: 1_000)),
        "cancelled by a viewer (process 123, user 1000)"
      ),
      (
        .viewer(CommandOrigin(processID: 0, userID: 1_000)), "cancelled by a viewer (user 1000)"
      ),
    ] as [(OperationReport.CancellationCause, String)])
  func causes(cause: OperationReport.CancellationCause, sentence: String) {
    #expect(Self.sentence(cause) == sentence)
  }

  @Test(
    "The sentence about a dependency names the operation that failed first, and the path",
    arguments: [
      (6, "cancelled because #6 “bad” failed: disk full"),
      (7, "cancelled because #6 “bad” failed: disk full, through #7"),
      (8, "cancelled because #6 “bad” failed: disk full, through #7, #8"),
      (10, "cancelled because #10 “Job” failed"),
      (
        11, "cancelled because #11 “user” was cancelled by a viewer (process 123, user 1000)"
      ),
      (12, "cancelled because #12 “mine” was cancelled by code: no longer needed"),
      (13, "cancelled because #13 “old” was cancelled"),
      (14, "cancelled because #14 “member” was cancelled with its group #3 “index”"),
      (15, "cancelled because #15 “done” did not succeed"),
      (16, "cancelled because of #99, an operation that is not known, through #16"),
      (99, "cancelled because of #99, an operation that is not known"),
    ] as [(UInt64, String)])
  func paths(dependency: UInt64, sentence: String) {
    #expect(Self.sentence(.dependency(.init(dependency))) == sentence)
  }

  @Test("A long path names the first operation, and counts the others")
  func longPaths() {
    func chain(_ count: UInt64) -> String? {
      let links = (7..<7 + count).map {
        Self.report($0, .cancelled, .dependency(.init($0 - 1)))
      }
      return Self.sentence(
        .dependency(.init(6 + count)), in: [Self.report(6, .failed, name: "bad")] + links)
    }
    #expect(chain(3) == "cancelled because #6 “bad” failed, through #7, #8, #9")
    #expect(chain(4) == "cancelled because #6 “bad” failed, through #7 and 3 more")
    #expect(chain(13) == "cancelled because #6 “bad” failed, through #7 and 12 more")
  }

  @Test("The sentences about all operations of a long chain take little time")
  func chains() {
    let count: UInt64 = 100_000
    let links = (2...count).map { Self.report($0, .cancelled, .dependency(.init($0 - 1))) }
    let all = [Self.report(1, .failed, name: "bad")] + links
    var lookups = 0
    var text = CancellationText(queueName: { _ in nil }) { id in
      lookups += 1
      return all.indices.contains(Int(id.rawValue) - 1) ? all[Int(id.rawValue) - 1] : nil
    }
    let last = text.sentence(about: all[all.count - 1])
    #expect(last == "cancelled because #1 “bad” failed, through #2 and 99997 more")
    for report in all { _ = text.sentence(about: report) }
    #expect(lookups < 3 * all.count)
  }

  @Test("A cycle of causes ends, and an operation without a cause has no sentence")
  func cycles() {
    #expect(Self.sentence(.dependency(.init(17)))?.contains("was cancelled") == true)
    #expect(Self.sentence(.dependency(.init(1_000)))?.contains("not known") == true)
    #expect(Self.sentence(nil) == nil)
  }

  @Test("Without Unicode, the sentence has plain quotation marks")
  func plainQuotes() {
    #expect(
      Self.sentence(.dependency(.init(6)), isUnicode: false)
        == "cancelled because #6 \"bad\" failed: disk full")
  }

  @Test("A full stop at the end of a text is left out, and an empty text has no colon")
  func fullStops() {
    #expect(
      Self.sentence(.code(reason: "It took too long.")) == "cancelled by code: It took too long")
    #expect(Self.sentence(.code(reason: "wait...")) == "cancelled by code: wait...")
    #expect(Self.sentence(.code(reason: "")) == "cancelled by code")
  }

  @Test("Long names and texts are cut")
  func longTexts() {
    let long = String(repeating: "x", count: 100_000)
    let bad = Self.report(6, .failed, name: long, error: long)
    let sentence = Self.sentence(.dependency(.init(6)), in: [bad]) ?? ""
    #expect(sentence.count < 320 && sentence.contains("x…” failed: x") && sentence.hasSuffix("x…"))
  }

  @Test(
    "The operations that explain cancellations are added, up to an unknown one and within a limit")
  func explanations() {
    let reports = Dictionary(uniqueKeysWithValues: Self.known.map { ($0.id, $0) })
    func wanted(_ ids: UInt64...) -> [UInt64] {
      var wanted = Set(ids.map { OperationReport.ID($0) })
      OperationReport.addCauses(to: &wanted, for: Interest()) { id in
        reports[id].map { $0.cancellationCause?.operation }
      }
      return wanted.map(\.rawValue).sorted()
    }
    #expect(wanted(9) == [6, 7, 8, 9] && wanted(9, 7) == [6, 7, 8, 9])
    #expect(wanted(14) == [3, 14] && wanted(16) == [16] && wanted(17) == [17, 18])
    #expect(wanted(12) == [12] && wanted(99) == [99])
  }

  @Test("The path of a selected operation is complete, and the paths of the others have a limit")
  func explanationLimits() {
    // Two chains, each of 10,000 operations; the numbers of the first are even.
    func added(_ interest: Interest) -> [UInt64] {
      var wanted: Set<OperationReport.ID> = [.init(20_000), .init(20_001)]
      OperationReport.addCauses(to: &wanted, for: interest) { id in
        id.rawValue > 1 ? .some(.init(id.rawValue - 2)) : .some(nil)
      }
      return wanted.map(\.rawValue).sorted()
    }
    let none = added(Interest())
    #expect(none.count == 1_002 && none.dropLast().allSatisfy { $0.isMultiple(of: 2) })
    let graph = Interest.Graph(root: .init(20_000), direction: .waitsFor, limit: 10)
    let drawn = added(Interest(graphs: [graph]))
    #expect(drawn.count == 10_001 + 1_001 && drawn.first == 0)
    var interest = Interest()
    interest.detail = .init(20_001)
    let described = added(interest)
    #expect(described.count == 10_001 + 1_001 && described.first == 1)
  }
}
