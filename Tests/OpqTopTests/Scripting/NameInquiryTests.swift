// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite("Looking operations up by their names") struct NameInquiryTests {
  private typealias Scene = InquiryScene

  private func message(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("A process is asked for operations with exactly these names, with any characters")
  func exactNames() throws {
    let names = ["job", "say \"hi\"", "\"", "\u{301}", "a|b !c\n"]
    let interest = NameInquiry(names).interest
    #expect(interest.names == Set(names))
    var report = Scene.report(1, .executing)
    for name in names {
      report.name = name
      #expect(interest.sortKey(of: report, queueName: "", at: Scene.start) != nil, "\(name)")
      report.name = name + "1"
      #expect(interest.sortKey(of: report, queueName: "", at: Scene.start) == nil, "\(name)")
    }
  }

  @Test("The filter lets a process of an earlier version, which ignores names, answer")
  func earlierVersion() throws {
    var inquiry = NameInquiry(["job"])
    #expect(inquiry.interest.filter?.text == "\"job\"")
    let reports = [
      Scene.report(1, .executing, name: "job[1]"), Scene.report(2, .executing, name: "job"),
    ]
    #expect(inquiry.hear(Scene.hello(), Scene.update(reports)) == [.success])
    #expect(try inquiry.ids() == ["job": Scene.id(2)])
  }

  @Test("If a process of an earlier version knows too many similar names, this is said")
  func tooManyNames() {
    var inquiry = NameInquiry(["job"])
    let reports = (1...10_000 as ClosedRange<UInt64>).map {
      Scene.report($0, .executing, name: "job[\($0)]")
    }
    _ = inquiry.hear(Scene.hello(), Scene.update(reports, kept: 10_000))
    #expect(
      message { _ = try inquiry.ids() }
        == "too many names contain \"job\"; use the id of the operation")
  }

  @Test("A name that no operation or more than one operation has is an error")
  func wrongNames() {
    var inquiry = NameInquiry(["twin"])
    let twins = [
      Scene.report(1, .executing, name: "twin"), Scene.report(2, .executing, name: "twin"),
    ]
    _ = inquiry.hear(Scene.hello(), Scene.update(twins))
    #expect(message { _ = try inquiry.ids() } == "2 operations have the name \"twin\": #1, #2")
    var other = NameInquiry(["\u{1B}[2J"])
    _ = other.hear(Scene.hello(), Scene.update(twins))
    #expect(
      message { _ = try other.ids() }
        == "no operation has the name \"\\x1b[2J\"; finished operations may not be known")
  }

  @Test("RD-5: If a process repeats jobs, the name of a job means its newest operation")
  func repeatedJob() throws {
    guard case .hello(var hello) = Scene.hello() else { return }
    hello.canRetry = true
    var inquiry = NameInquiry(["twin"])
    let twins = [
      Scene.report(7, .executing, name: "twin"), Scene.report(2, .failed, name: "twin"),
    ]
    #expect(inquiry.hear(.hello(hello), Scene.update(twins)) == [.success])
    #expect(try inquiry.ids() == ["twin": Scene.id(7)])
  }

  @Test("Many long names are divided into several requests, and a process accepts each request")
  func parts() throws {
    let names = (0..<50).map { "\($0)" + String(repeating: "n", count: 1_000) } + ["last"]
    let parts = NameInquiry.parts(of: names)
    #expect(parts.flatMap { $0 } == names && parts.count > 1)
    for part in parts + [[String(repeating: "x", count: 100_000)]] {
      let bytes = ViewerMessage.watch(NameInquiry(part).interest, interval: .seconds(1)).encoded()
      guard case .watch(let arrived, _) = try ViewerMessage(decoding: bytes) else {
        Issue.record("no watch")
        return
      }
      #expect(arrived.names == Set(part.map(\.wireText)))
    }
    #expect(NameInquiry.parts(of: ["a", "b"]) == [["a", "b"]])
  }

  @Test("A recording knows an exact name among more than 10,000 names that contain it")
  func recording() throws {
    var reports = (1...10_001 as ClosedRange<UInt64>).map {
      OperationReport(
        id: .init($0), name: "a \"job\" \($0)", className: "Job", queue: .init(1), state: .waiting)
    }
    reports.append(
      OperationReport(
        id: .init(20_000), name: "\"job\"", className: "Job", queue: .init(1), state: .waiting))
    let moment = ReplayMoment(
      try ReplayScene.reader(ExportScene.bytes(reports)), at: nil)
    #expect(try moment.ids(of: ["\"job\""]) == ["\"job\"": .init(20_000)])
  }
}
