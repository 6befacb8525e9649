// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import NIOPosix
import Operations
import TestSupport
import Testing

@testable import OperationsMonitor

@Suite struct GuestListTests {
  private let log = LogLines()
  private let origin = CommandOrigin(processID: 4711, userID: 1_000)

  private func makeList() -> GuestList {
    GuestList(
      mode: .readOnly, logger: log.logger, loop: MultiThreadedEventLoopGroup.singleton.next())
  }

  @Test("A viewer that connects too late gets another answer than a viewer beyond the limit")
  func entries() {
    let list = makeList()
    let guests = (0...GuestList.limit).map { _ in LogLines() }
    let reported = EventLog<Int>()
    for (index, guest) in guests.dropLast().enumerated() {
      #expect(list.enter(ObjectIdentifier(guest)) { _ in reported.note(index) } == .isIn)
    }
    let last = ObjectIdentifier(guests[GuestList.limit])
    #expect(list.enter(last) { _ in } == .isFull)
    list.leave(ObjectIdentifier(guests[3]))
    #expect(list.enter(last) { _ in reported.note(3) } == .isIn)
    list.close(.cutOff)
    #expect(reported.events.sorted() == Array(0..<GuestList.limit))
    list.leave(last)
    #expect(list.enter(last) { _ in } == .isClosed)
  }

  @Test("Text from a viewer does not forge a line of the log, and is not longer than a line")
  func hostileReasons() {
    let list = makeList()
    list.noteRefusal(
      "a\nb\r\u{1B}[2J\u{202E}\u{2028}\u{85}" + String(repeating: "x", count: 9_000), origin)
    let line = log.lines.first ?? ""
    #expect(
      line.hasPrefix("refused a viewer: a\u{FFFD}b\u{FFFD}\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}x"))
    #expect(line.hasSuffix(" pid=4711 uid=1000"))
    #expect(line.count < 600)
  }

  @Test("At most a few refusals are logged per second, and the others are counted")
  func manyRefusals() {
    let list = makeList()
    let start = ContinuousClock.now
    let count = 5_000
    for number in 0..<count { list.noteRefusal("\(number)", origin) }
    func total(_ lines: [String]) -> Int {
      lines.reduce(0) { sum, line in
        sum
          + (line.hasPrefix("refused")
            ? 1 : line.split(separator: " ").first.flatMap { Int($0) } ?? 0)
      }
    }
    log.wait(for: "all of them to be counted") { total($0) >= count }
    #expect(total(log.lines) == count)
    // In each second, the log may have ten lines about viewers, and one line with the number of
    // omitted lines.
    let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
    #expect(log.lines.count <= seconds * 11)
    #expect(log.lines.first?.hasPrefix("refused a viewer: 0") == true)
  }

  @Test(
    "A log line has the name of the queue, without characters that forge lines, and an id without a queue"
  )
  func namesOfQueues() {
    let list = makeList()
    let queue = OperationQueue()
    queue.name = "i\no"
    let id = QueueReport.ID(queue.id.rawValue)
    for command in [
      MonitorCommand.setWidth(id, 7), .setWidth(id, nil), .setSuspended(id, true),
      .setSuspended(.init(.max), false), .setStartLimit(id, .init(count: 5, periodSeconds: 1)),
      .setStartLimit(id, nil),
    ] {
      list.note(CommandResult(command: command, outcomes: [.requested]), from: origin)
    }
    #expect(log.lines.count == 6)
    for (line, beginning) in zip(
      log.lines,
      [
        "set the width of i\u{FFFD}o to 7", "set the width of i\u{FFFD}o to the default",
        "suspend i\u{FFFD}o", "resume queue \(UInt64.max)", "set the rate of i\u{FFFD}o to 5/s",
        "set the rate of i\u{FFFD}o to no limit",
      ])
    {
      #expect(line.hasPrefix(beginning), "\(line)")
    }
  }

  @Test("RD-5: A log line names at most eight jobs, without characters that forge lines")
  func namesOfJobs() {
    let list = makeList()
    for command in [
      MonitorCommand.retry([.init(7)], names: ["i\no"]),
      .retry([.init(7), .init(8)], names: (1...9).map { "job \($0)" }),
    ] {
      list.note(
        CommandResult(command: command, outcomes: [.notRetryable, .notRetryable]), from: origin)
    }
    #expect(log.lines.first?.hasPrefix("retry #7, i\u{FFFD}o ") == true)
    #expect(log.lines.first?.contains("notRetryable 2") == true)
    #expect(log.lines.last?.hasPrefix("retry #7, #8, job 1, ") == true)
    #expect(log.lines.last?.contains("job 6 and 3 more") == true)
  }

  @Test("Commands are logged however many viewers are refused")
  func commandsBesideRefusals() {
    let list = makeList()
    for number in 0..<1_000 { list.noteRefusal("\(number)", origin) }
    list.note(CommandResult(command: .cancel([.init(7)]), outcomes: [.denied]), from: origin)
    #expect(log.lines.contains { $0.hasPrefix("cancel ") && $0.contains("denied 1") })
  }
}

@Suite struct LogAllowanceTests {
  @Test(
    "A limited number of lines is logged in a second; the first omitted line asks for their number")
  func limits() {
    var allowance = LogAllowance(limit: 2)
    let start = MonitorTime(nanoseconds: 5_000_000_000)
    #expect(allowance.take(at: start) == .write)
    #expect(allowance.take(at: start) == .write)
    #expect(allowance.take(at: start + .milliseconds(999)) == .omitFirst)
    #expect(allowance.take(at: start + .milliseconds(999)) == .omit)
    // In the next second, two lines may be written again. The two lines that were omitted before
    // can still be counted.
    #expect(allowance.take(at: start + .seconds(1)) == .write)
    #expect(allowance.takeOmitted() == 2)
    #expect(allowance.takeOmitted() == 0)
    #expect(allowance.take(at: start + .seconds(1)) == .write)
    #expect(allowance.take(at: start + .seconds(1)) == .omitFirst)
  }
}
