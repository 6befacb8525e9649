// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Operations
import Testing

@testable import OperationsCollector

@Suite struct DetailWatchTests {
  private let one = OperationReport.ID(1)
  private let two = OperationReport.ID(2)

  private func moment(_ milliseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: milliseconds * 1_000_000)
  }

  /// Requests the details of an operation, and returns whether the request computed them. If it did
  /// not, the details are those of an earlier request.
  private func isFoundOut(
    _ watch: inout DetailWatch, _ id: OperationReport.ID?, at milliseconds: Int64,
    taking cost: Int64 = 0
  ) -> Bool {
    var isFound = false
    let end = moment(milliseconds + cost)
    let answer = watch.answer(about: id, at: moment(milliseconds), clock: { end }) { id in
      isFound = true
      return OperationDetail(id: id)
    }
    #expect(answer?.id == id)
    return isFound
  }

  @Test func aDetailIsComputedAtOnceAndThenFiveTimesASecond() {
    var watch = DetailWatch()
    #expect(isFoundOut(&watch, one, at: 0))
    #expect(watch.nextAnswer == nil)
    #expect(!isFoundOut(&watch, one, at: 100))
    #expect(watch.nextAnswer == moment(200))
    #expect(isFoundOut(&watch, one, at: 200))
    #expect(watch.nextAnswer == nil)
  }

  @Test func anotherOperationIsExaminedAtOnce() {
    var watch = DetailWatch()
    _ = isFoundOut(&watch, one, at: 0)
    #expect(isFoundOut(&watch, two, at: 1))
    #expect(!isFoundOut(&watch, nil, at: 2))
    #expect(isFoundOut(&watch, two, at: 3))
  }

  @Test(
    "A detail with a time left is computed again after a second, unless it is postponed",
    arguments: [OperationDetail.Reason.Kind.delayed, .startLimitReached])
  func timeLeft(kind: OperationDetail.Reason.Kind) {
    var watch = DetailWatch()
    _ = watch.answer(about: one, at: moment(0), clock: { moment(0) }) {
      OperationDetail(id: $0, reasons: [.init(kind: kind, sentence: "it waits")])
    }
    #expect(watch.nextAnswer == moment(1_200))
    watch.postpone()
    #expect(watch.nextAnswer == nil)
    #expect(isFoundOut(&watch, one, at: 300))
    #expect(watch.nextAnswer == nil)
  }

  @Test func afterPostponingNoAnswerIsScheduled() {
    var watch = DetailWatch()
    _ = isFoundOut(&watch, one, at: 0)
    _ = isFoundOut(&watch, one, at: 100)
    watch.postpone()
    #expect(watch.nextAnswer == nil)
    #expect(isFoundOut(&watch, one, at: 300))
  }

  @Test func expensiveAnswersAreComputedLessOften() {
    var watch = DetailWatch()
    _ = isFoundOut(&watch, one, at: 0, taking: 20)
    #expect(!isFoundOut(&watch, one, at: 1_000))
    #expect(isFoundOut(&watch, one, at: 1_020))
  }
}

/// An operation whose property must not be read while its work runs, because the getter would wait
/// for the end of the work.
private final class GuardedOperation: Operation, @unchecked Sendable {
  override var qualityOfService: QualityOfService {
    get {
      Issue.record("the getter of the subclass was called")
      return .default
    }
    set { super.qualityOfService = newValue }
  }
}

@Suite(.serialized) struct LiveDetailTests {
  @Test("The details of an operation do not call a property of its subclass")
  func detailsCallNoOverride() {
    let operation = GuardedOperation()
    operation.qualityOfService = .utility
    let detail = OperationDetail(operation, id: OperationReport.ID(operation.id.rawValue))
    #expect(detail.qualityOfService == .utility)
  }

  @Test("A viewer receives every reason why an operation does not run")
  func reasonsAreThoseOfTheLibrary() {
    let viewer = Viewer()
    let queue = OperationQueue()
    queue.name = "held back"
    queue.isSuspended = true
    let first = BlockOperation {}
    let second = BlockOperation {}
    second.qualityOfService = .background
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    let id = OperationReport.ID(second.id.rawValue)
    var interest = Interest()
    interest.detail = id
    viewer.session.watch(interest)
    #expect(
      viewer.waitUntil { viewer in
        viewer.detail?.reasons.map(\.kind) == [.queueSuspended, .unmetDependencies]
      })
    #expect(viewer.detail?.reasons.map(\.sentence) == second.reasonsNotRunning().map { "\($0)" })
    #expect(viewer.detail?.qualityOfService == .background)
    queue.isSuspended = false
    #expect(viewer.waitUntil { $0.detail == nil })
    queue.waitUntilAllOperationsAreFinished()
  }
}
