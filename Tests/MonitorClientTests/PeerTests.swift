// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport
import Testing

@testable import MonitorClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the checks that a viewer makes of the process at the other end of a socket.
@Suite struct PeerTests {
  private let name = MonitorSocketName(processID: 4711, start: ProcessStart(ticks: 5))

  private func refusal(
    _ processID: Int32, ofUser owner: UInt32, to user: UInt32 = 1_000,
    isNamed: Bool = true
  ) -> AttachError? {
    PeerCheck.refusal(
      of: CommandOrigin(processID: processID, userID: owner), named: isNamed ? name : nil,
      user: user)
  }

  @Test("A user's own processes and root's are trusted; root may watch every user's")
  func users() {
    #expect(refusal(4711, ofUser: 1_000) == nil)
    #expect(refusal(4711, ofUser: 0) == nil)
    #expect(refusal(4711, ofUser: 1_000, to: 0) == nil)
    #expect(refusal(4711, ofUser: 1_001)?.status == 5)
    #expect(
      refusal(4711, ofUser: 1_001)?.description
        == "the socket belongs to another user (uid 1001)")
  }

  @Test("The process that a socket is named for listens to it, if both are visible")
  func processes() {
    let error = refusal(4712, ofUser: 1_000)
    #expect(error?.status == 5)
    #expect(
      error?.description
        == "the socket's name contains process id 4711, but process 4712 listens on it")
    // The process id is not checked if the process is in another namespace of ids, or if the name
    // of the socket has no process id.
    #expect(refusal(0, ofUser: 1_000) == nil)
    #expect(refusal(4712, ofUser: 1_000, isNamed: false) == nil)
  }

  @Test("A name counts only if it is that of a running process")
  func names() throws {
    let start = try #require(ProcessStart(of: getpid()))
    let own = MonitorSocketName(processID: getpid(), start: start)
    #expect(PeerCheck.livingName(of: "/run/opq/\(own.fileName)") == own)
    let older = MonitorSocketName(processID: getpid(), start: ProcessStart(ticks: 1))
    #expect(PeerCheck.livingName(of: "/run/opq/\(older.fileName)") == nil)
    #expect(PeerCheck.livingName(of: "/tmp/forwarded.sock") == nil)
    #expect(PeerCheck.livingName(of: "") == nil)
  }

  // MARK: Whether the process still exists

  private func hello(ticks: UInt64, started: Int64 = 0, bootID: String = "boot") -> Hello {
    var hello = Hello(
      processName: "", processID: 4711, isReadOnly: false, anchor: MonitorTime(nanoseconds: 0),
      anchorSecondsSince1970: 0, processStarted: MonitorTime(nanoseconds: started))
    hello.bootID = bootID
    hello.startTicks = ticks
    return hello
  }

  private func local(_ hello: Hello, startedHere ticks: UInt64?) -> LocalProcess? {
    LocalProcess(hello, bootID: "boot") { _ in ticks.map { ProcessStart(ticks: $0) } }
  }

  @Test(
    "A process of this machine is identified by its ticks and not by its clock"
  )
  func localProcesses() {
    #expect(local(hello(ticks: 500), startedHere: 500) != nil)
    // After the machine has slept, the start time by the clock differs, but the number of ticks is
    // the same.
    #expect(local(hello(ticks: 500, started: -7), startedHere: 500) != nil)
    #expect(local(hello(ticks: 500), startedHere: 501) == nil)
    #expect(local(hello(ticks: 500), startedHere: nil) == nil)
    #expect(local(hello(ticks: 500, bootID: "other"), startedHere: 500) == nil)
    #expect(
      LocalProcess(hello(ticks: 500, bootID: ""), bootID: "") { _ in ProcessStart(ticks: 500) }
        == nil)
  }

  @Test(
    "A process of version 1.0, which does not send its ticks, is identified by the time of its start"
  )
  func localProcessOfTheFirstVersion() {
    let start = ProcessStart(ticks: 500)
    #expect(local(hello(ticks: 0, started: start.nanoseconds), startedHere: 500) != nil)
    #expect(local(hello(ticks: 0, started: 1), startedHere: 500) == nil)
  }

  @Test("The time of another machine is computed from the difference of its greeting")
  func clocks() {
    var hello = hello(ticks: 1)
    hello.anchor = MonitorTime(nanoseconds: 9_000)
    let now = MonitorTime(nanoseconds: 10_000)
    #expect(hello.clockLead(at: now, bootID: "boot") == .zero)
    #expect(hello.clockLead(at: now, bootID: "other") == .nanoseconds(-1_000))
  }
}
