// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCollector
import Testing

@testable import OpqTop

/// The state of a monitored process in batch mode.
@Suite struct MonitorPictureTests {
  private func moment(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  @Test func theFilterAlsoAppliesToOperationsWithWarnings() throws {
    let filter = try OperationFilter("state:exec queue:io")
    var picture = MonitorPicture(filter: filter)
    let queues = [QueueReport(id: .init(1), name: "io"), QueueReport(id: .init(2), name: "cpu")]
    var update = Update(time: moment(1), queues: queues)
    update.changed = [
      OperationReport(
        id: .init(1), name: "a", className: "A", queue: .init(1), state: .executing),
      OperationReport(id: .init(2), name: "b", className: "A", queue: .init(1), state: .waiting),
      OperationReport(
        id: .init(3), name: "c", className: "A", queue: .init(2), state: .executing),
    ]
    picture.take(.hello(hello()), at: moment(0))
    picture.take(.update(update), at: moment(1))
    #expect(picture.frame(at: moment(2))?.operations.map(\.id) == [.init(1)])
    let interest = BatchOptions(filter: filter).interest(for: nil)
    #expect(interest.filter == filter)
    #expect(interest.rowLimit != nil, "a list without is not filtered")
  }

  private func hello(bootID: String = ProcessStart.bootID) -> Hello {
    var hello = Hello(
      processName: "", processID: 1, isReadOnly: true, anchor: moment(1_000),
      anchorSecondsSince1970: 0, processStarted: moment(0))
    hello.bootID = bootID
    return hello
  }

  @Test func aFrameHasTheTimeOfTheMonitoredProcess() {
    var here = MonitorPicture()
    here.take(.hello(hello()), at: moment(7))
    #expect(here.frame(at: moment(8))?.time.monotonic == moment(8))
    var elsewhere = MonitorPicture()
    elsewhere.take(.hello(hello(bootID: "another machine")), at: moment(7))
    #expect(elsewhere.frame(at: moment(8))?.time.monotonic == moment(1_001))
  }

  @Test("The first frame waits for the first update, and 2 s for operations")
  func firstFrameWaits() {
    var picture = MonitorPicture()
    picture.take(.hello(hello()), at: moment(0))
    #expect(!BatchLoop.canPrint([picture], after: .seconds(3)))
    #expect(BatchLoop.canPrint([picture], after: .seconds(10)))
    picture.take(.update(Update(time: moment(1))), at: moment(1))
    #expect(!BatchLoop.canPrint([picture], after: .seconds(1)))
    #expect(BatchLoop.canPrint([picture], after: .seconds(2)))
    var queue = QueueReport(id: .init(1), name: "io")
    queue.counts = StateCounts(ready: 1, total: 1)
    picture.take(.update(Update(time: moment(2), queues: [queue])), at: moment(2))
    #expect(BatchLoop.canPrint([picture], after: .zero))
  }

  @Test("The first frame does not wait for a process that does not answer or has ended")
  func firstFrameDoesNotWait() {
    for message in [MonitorMessage.silent(for: .seconds(2)), .ended(reason: "it has exited")] {
      var picture = MonitorPicture()
      picture.take(.hello(hello()), at: moment(0))
      picture.take(message, at: moment(1))
      #expect(BatchLoop.canPrint([picture], after: .seconds(2)))
    }
  }

  @Test(arguments: [
    (MonitorMessage.disconnected(reason: "reset"), "connection lost: reset"),
    (.ended(reason: "it has exited"), "it has exited"),
  ])
  func messagesAfterTheEndAreIgnored(message: MonitorMessage, sentence: String) {
    var picture = MonitorPicture()
    #expect(picture.frame(at: moment(1)) == nil)
    picture.take(.hello(hello()), at: moment(0))
    #expect(picture.endedReason == nil)
    picture.take(message, at: moment(1))
    #expect(picture.endedReason == sentence)
    // After the end of a process, further messages may come from another process, so they have no
    // effect.
    var update = Update(time: moment(2), queues: [QueueReport(id: .init(1), name: "io")])
    update.lostChanges = 9
    picture.take(.hello(hello(bootID: "another machine")), at: moment(2))
    picture.take(.update(update), at: moment(2))
    #expect(picture.frame(at: moment(3))?.time.monotonic == moment(3))
    #expect(picture.frame(at: moment(3))?.lostChanges == 0)
    #expect(picture.endedReason == sentence)
  }
}
