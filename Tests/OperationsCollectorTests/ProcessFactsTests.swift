// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCollector

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite struct ProcessFactsTests {
  private func moment(_ seconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test func theStartOfAProcessIncludesTimesOfSleep() {
    let ticksPerSecond = ProcessFactsTests.ticksPerSecond
    let start = ProcessStart(ticks: 100 * ticksPerSecond)
    #expect(
      ProcessFacts.started(start, now: moment(150), sinceBoot: .seconds(150)) == moment(100))
    // The machine has slept for an hour, which the clock does not count. The age of the process
    // includes the hour, so the start of the process is before the clock's zero.
    #expect(
      ProcessFacts.started(start, now: moment(150), sinceBoot: .seconds(3_750)) == moment(-3_500))
    // The start time has a precision of a hundredth of a second, so it is limited to the present
    // time.
    let later = ProcessStart(ticks: 151 * ticksPerSecond)
    #expect(
      ProcessFacts.started(later, now: moment(150), sinceBoot: .seconds(150)) == moment(150))
  }

  private static var ticksPerSecond: UInt64 { UInt64(sysconf(Int32(_SC_CLK_TCK))) }

  @Test func aGreetingIdentifiesTheProcessByItsStart() throws {
    let hello = ProcessFacts.hello(isReadOnly: false)
    #expect(hello.startTicks == (try #require(ProcessStart(of: getpid()))).ticks)
    #expect(hello.startTicks > 0)
    #expect(hello.processStarted <= hello.anchor)
    #expect(hello.isSameProcess(as: ProcessFacts.hello(isReadOnly: true)))
  }

  @Test("RD-3: A process has the name that it has set, or that of its program")
  func namesInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let own = ProcessFacts.hello(isReadOnly: false).processName
      #expect(!own.isEmpty && !own.contains("/"))
      ProcessFacts.setName("run a/b.yaml")
      #expect(ProcessFacts.hello(isReadOnly: false).processName == "run a/b.yaml")
      ProcessFacts.setName(nil)
      #expect(ProcessFacts.hello(isReadOnly: false).processName == own)
    }
  }
}
