// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct UploadLifecycleTests {
  /// Returns the lifecycle of an upload that is transferring its data.
  private func transferring() -> UploadLifecycle {
    var lifecycle = UploadLifecycle()
    #expect(lifecycle.start() == .enter)
    lifecycle.enter()
    #expect(lifecycle.entered() == .transfer)
    return lifecycle
  }

  @Test func anUploadEntersTransfersAndLeaves() {
    var lifecycle = UploadLifecycle()
    #expect(lifecycle.start() == .enter)
    #expect(!lifecycle.isExecuting)
    lifecycle.enter()
    #expect(lifecycle.isExecuting)
    #expect(lifecycle.entered() == .transfer)
    #expect(lifecycle.transferEnded() == .leave(hasExecuted: true))
    #expect(lifecycle.isExecuting && !lifecycle.isFinished)
    lifecycle.leave()
    #expect(!lifecycle.isExecuting && lifecycle.isFinished)
  }

  @Test func onlyTheFirstStartCounts() {
    var lifecycle = transferring()
    #expect(lifecycle.start() == .nothing)
    #expect(lifecycle.transferEnded() == .leave(hasExecuted: true))
    lifecycle.leave()
    #expect(lifecycle.start() == .nothing)
  }

  @Test func cancelledBeforeItsStartAnUploadDoesNotExecute() {
    var lifecycle = UploadLifecycle()
    #expect(lifecycle.cancel() == .nothing)
    #expect(!lifecycle.isFinished)
    #expect(lifecycle.start() == .leave(hasExecuted: false))
    #expect(!lifecycle.isExecuting)
    lifecycle.leave()
    #expect(lifecycle.isFinished)
  }

  @Test func cancelledDuringItsTransferAnUploadLeavesAtOnce() {
    var lifecycle = transferring()
    #expect(lifecycle.cancel() == .leave(hasExecuted: true))
    #expect(lifecycle.transferEnded() == .nothing)
    lifecycle.leave()
    #expect(lifecycle.isFinished)
  }

  @Test func aCancellationDuringObserverCallsIsKept() {
    var early = UploadLifecycle()
    #expect(early.start() == .enter)
    #expect(early.cancel() == .nothing)
    early.enter()
    #expect(early.entered() == .leave(hasExecuted: true))

    var late = UploadLifecycle()
    #expect(late.start() == .enter)
    late.enter()
    #expect(late.cancel() == .nothing)
    #expect(late.entered() == .leave(hasExecuted: true))
  }

  @Test func onlyOneOfSeveralEndingsLeaves() {
    var lifecycle = transferring()
    #expect(lifecycle.transferEnded() == .leave(hasExecuted: true))
    #expect(lifecycle.cancel() == .nothing)
    #expect(lifecycle.transferEnded() == .nothing)
    lifecycle.leave()
    #expect(lifecycle.cancel() == .nothing)
    #expect(lifecycle.transferEnded() == .nothing)
  }
}
