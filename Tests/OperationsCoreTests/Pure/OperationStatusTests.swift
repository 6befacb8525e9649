// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("OperationStatus, event by event")
struct OperationStatusTests {
  private func status(_ events: (inout OperationStatus) -> Void...) -> OperationStatus {
    var status = OperationStatus()
    for event in events { event(&status) }
    return status
  }

  private func enqueue(_ status: inout OperationStatus) { _ = status.enqueue() }
  private func leaveInbox(_ status: inout OperationStatus) { _ = status.leaveInbox() }
  private func dispatch(_ status: inout OperationStatus) { _ = status.dispatch() }
  private func start(_ status: inout OperationStatus) { _ = status.startUnobserved() }
  private func finish(_ status: inout OperationStatus) { _ = status.finish() }
  private func cancel(_ status: inout OperationStatus) { _ = status.cancel(isAnnounced: false) }
  private func addDependency(_ status: inout OperationStatus) { _ = status.dependencyWasAdded() }
  private func retire(_ status: inout OperationStatus) { _ = status.retire() }

  @Test("OP-2: a new operation is ready, and not executing, finished or cancelled")
  func aNewOne() {
    let new = OperationStatus()
    #expect(new.isReady && new.isEligible && new.isPending)
    #expect(!new.isExecuting && !new.isFinished && !new.isCancelled)
    #expect(new.state == .ready)
    #expect(new.priorityIndex == OperationStatus.normalPriorityIndex)
    #expect(new.unmetDependencyCount == 0)
  }

  @Test("SA-1..SA-6: the result of start in each situation")
  func startVerdicts() {
    typealias Row = (String, OperationStatus, isReady: Bool, OperationStatus.StartVerdict)
    let rows: [Row] = [
      ("ready", status(), true, .run),
      ("not ready", status(addDependency), false, .refuse(.receiverNotReady)),
      ("cancelled", status(cancel), true, .finishWithoutRunning),
      ("cancelled, waiting", status(addDependency, cancel), false, .finishWithoutRunning),
      ("executing", status(start), true, .refuse(.receiverAlreadyExecuting)),
      ("finished", status(start, finish), true, .nothing),
      ("finished before start", status(finish), true, .nothing),
      ("finished, waiting", status(finish, addDependency), false, .nothing),
      ("in a queue", status(enqueue), true, .refuse(.startOfEnqueuedOperation)),
      ("cancelled in a queue", status(enqueue, cancel), true, .refuse(.startOfEnqueuedOperation)),
      ("dispatched", status(enqueue, dispatch), true, .run),
      ("dispatched, no longer ready", status(enqueue, dispatch, addDependency), false, .run),
      ("dispatched, cancelled", status(enqueue, dispatch, cancel), true, .finishWithoutRunning),
    ]
    for (name, before, isReady, expected) in rows {
      var status = before
      #expect(status.claimStart(isReady: isReady) == expected, "\(name)")
      switch expected {
      case .run, .finishWithoutRunning:
        #expect(!status.isPending && !status.isExecuting && !status.isFinished, "\(name)")
        #expect(status.claimStart(isReady: true) == .refuse(.simultaneousStart), "\(name)")
      case .nothing, .refuse: #expect(status == before, "\(name)")
      }
    }
  }

  @Test("D-22, SA-9: base start runs once for a subclass that has announced isExecuting")
  func startAfterAnAnnouncement() {
    var status = status(enqueue, leaveInbox, dispatch)
    status.noteExecuting()
    #expect(!status.isPending && status.claimStart(isReady: true) == .run)
    #expect(status.claimStart(isReady: true) == .refuse(.receiverAlreadyExecuting))
  }

  @Test("SA-6: a direct start is refused even after the queue has chosen the operation")
  func startByHandOfADispatchedOne() {
    var status = status(enqueue, leaveInbox, dispatch)
    #expect(status.claimStart(isReady: true, isByHand: true) == .refuse(.startOfEnqueuedOperation))
  }

  @Test("ST-2: finishing replaces executing in one step, and only once")
  func finishing() {
    var status = status(start)
    #expect(status.isExecuting)
    #expect(status.finish() == true)
    #expect(status.isFinished && !status.isExecuting)
    #expect(status.finish() == false)
    status.noteExecuting()
    #expect(!status.isExecuting)
  }

  @Test("ST-3: readiness stays true after the start, even with new dependencies")
  func readinessStays() {
    let executing = status(start, addDependency)
    #expect(executing.isReady && executing.unmetDependencyCount == 0)
    let finished = status(finish, addDependency)
    #expect(finished.isReady && finished.unmetDependencyCount == 0)
  }

  @Test("CA-1..CA-5: the result of cancel in each situation")
  func cancelVerdicts() {
    typealias Verdict = OperationStatus.Verdict
    let rows: [(String, OperationStatus, Verdict)] = [
      ("ready", status(), Verdict(isNews: true)),
      ("waiting", status(addDependency), Verdict(isNews: true)),
      ("again", status(cancel), Verdict()),
      ("executing", status(start), Verdict(isNews: true)),
      ("finished", status(finish), Verdict()),
      ("in the inbox", status(enqueue), Verdict(isNews: true)),
      ("in a queue", status(enqueue, leaveInbox), Verdict(isNews: true, mustPush: true)),
      (
        "waiting in a queue", status(addDependency, enqueue, leaveInbox),
        Verdict(isNews: true, mustPush: true)
      ),
    ]
    for (name, before, expected) in rows {
      var status = before
      #expect(status.cancel(isAnnounced: false) == expected, "\(name)")
      #expect(status.isCancelled == (expected.isNews || before.isCancelled), "\(name)")
    }
  }

  @Test("DE-1, DE-9, K-10: only the first and the last unmet dependency change readiness")
  func countingDependencies() {
    var status = OperationStatus()
    #expect(status.dependencyWasAdded().isCounted && !status.isReady)
    #expect(status.dependencyWasAdded().isCounted && !status.isReady)
    #expect(!status.dependencyWasMet(isAnnounced: true).becameReady && !status.isReady)
    #expect(status.dependencyWasMet(isAnnounced: true).becameReady)
  }

  @Test("K-3, K-10: readiness is visible only after its release, which happens once")
  func announcedReadiness() {
    for (event, asksReadiness) in [
      ({ $0.cancel(isAnnounced: true) }, false), ({ $0.dependencyWasMet(isAnnounced: true) }, true),
    ] as [((inout OperationStatus) -> OperationStatus.Verdict, Bool)] {
      var status = status(addDependency, enqueue, leaveInbox)
      _ = status.leaveInbox()
      let verdict = event(&status)
      let expected = OperationStatus.Verdict(
        isNews: true, becameReady: true, asksReadiness: asksReadiness)
      #expect(verdict == expected)
      #expect(!status.isReady && !status.isEligible, "held back")
      #expect(!status.cancel(isAnnounced: true).becameReady, "one thread announces")
      status.releaseReadiness()
      #expect(status.isReady && status.isEligible && status.claimPush())
    }
  }

  @Test("K-1, K-2: an observed operation changes only in events that are announced")
  func observedOnesAreNotChangedSilently() {
    var status = OperationStatus()
    status.insert(.observed)
    let before = status
    #expect(status.startUnobserved() == nil && status.cancelUnobserved() == nil)
    #expect(status.finishUnobserved() == nil && status == before)
    #expect(status.claimCancel() && !status.claimCancel(), "one thread announces")
  }

  @Test("CA-10, DE-5: a dependency that cannot delay the operation is not counted")
  func dependenciesThatDoNotCount() {
    for before in [status(cancel), status(start), status(finish)] {
      var status = before
      #expect(!status.dependencyWasAdded().isCounted)
      #expect(status.unmetDependencyCount == 0)
    }
  }

  @Test(
    "DE-18: the subclass's isReady delays the operation or overrides the count")
  func verdictsOfASubclass() {
    var held = status(enqueue, leaveInbox)
    #expect(held.readinessWasRead(false, reading: held.beginReading()) == (true, true))
    #expect(!held.isEligible && held.isReady)
    #expect(held.readinessWasRead(true, reading: held.beginReading()) == (true, false))
    #expect(held.isEligible)

    var early = status(addDependency, enqueue, leaveInbox)
    #expect(!early.isEligible)
    #expect(early.readinessWasRead(true, reading: early.beginReading()).mustPush)
    #expect(early.isEligible && !early.isReady)
  }

  @Test("DE-18: an older value of isReady never replaces a newer one")
  func anOlderAnswerIsDropped() {
    var status = OperationStatus()
    let older = status.beginReading()
    let newer = status.beginReading()
    #expect(status.readinessWasRead(true, reading: newer).isCurrent)
    #expect(!status.readinessWasRead(false, reading: older).isCurrent)
    #expect(status.isEligible)
  }

  @Test("DE-16: a false that was read before the last dependency finished is dropped")
  func aNoFromBeforeTheLastDependencyFinished() {
    var status = status(addDependency, enqueue)
    let reading = status.beginReading()
    _ = status.dependencyWasMet()
    #expect(!status.readinessWasRead(false, reading: reading).isCurrent)
    #expect(status.isEligible)
  }

  @Test("DE-3: a true that was read before a dependency was added is dropped")
  func aYesFromBeforeADependencyWasAdded() {
    var status = status(enqueue)
    let reading = status.beginReading()
    _ = status.dependencyWasAdded()
    #expect(!status.readinessWasRead(true, reading: reading).isCurrent)
    #expect(!status.isEligible)
  }

  @Test("Q-3: an operation is enqueued once, and a refused batch reverts that")
  func enqueueing() {
    var status = OperationStatus()
    #expect(status.enqueue() && !status.enqueue())
    let wasTakenBack = status.takeBackEnqueue()
    #expect(wasTakenBack && status == OperationStatus())
    #expect(status.enqueue() == true)
    for before in [self.status(start), self.status(finish)] {
      var status = before
      #expect(status.enqueue() == false)
    }
    var finished = OperationStatus()
    _ = finished.enqueue()
    _ = finished.finish()
    let isEarly = finished.takeBackEnqueue()
    #expect(!isEarly && finished.has(.enqueued), "its finisher uses the queue until it is retired")
    _ = finished.retire()
    let isDone = finished.takeBackEnqueue()
    #expect(isDone && !finished.has(.enqueued))
    var cancelled = self.status(cancel)
    #expect(cancelled.enqueue() == true, "Q-4: a cancelled one may be added")
  }

  @Test("Only one of several threads with a change pushes, and none after retirement")
  func pushingIsClaimedOnce() {
    var status = status(enqueue)
    let isPushedTwice = status.setPriority(0)
    #expect(!isPushedTwice, "it is on its way already")
    _ = status.leaveInbox()
    let isPushed = status.setPriority(1)
    #expect(isPushed)
    #expect(
      !status.cancel(isAnnounced: false).mustPush, "the change of priority has claimed the push")
    _ = status.leaveInbox()
    #expect(status.retire() && status.descriptionDidChange() == false)
  }

  @Test("Retiring finishes operations without dependents or observers, and only those")
  func retiring() {
    var quiet = status(enqueue, leaveInbox, start)
    #expect(quiet.finishesQuietly && quiet.retire() && quiet.isFinished && quiet.has(.retired))
    for flag in [OperationStatus.Flags.observed, .hasDependents, .releasesDependenciesWhenFinished]
    {
      var status = status(enqueue, leaveInbox, start)
      status.insert(flag)
      let before = status
      #expect(!status.finishesQuietly && !status.retire() && status == before)
      #expect(status.finish() && status.retire() && status.has(.retired))
    }
    var awaited = status(enqueue, leaveInbox, start)
    #expect(!awaited.hasAftermath)
    awaited.insert(.hasWaiters)
    #expect(awaited.retire() && awaited.hasAftermath)
  }

  @Test("A plain block is started when it is chosen, unless observed or cancelled")
  func startingAtOnce() {
    var plain = status(enqueue, leaveInbox)
    #expect(plain.dispatch(startsAtOnce: true) && plain.isExecuting && plain.has(.startClaimed))
    var cancelled = status(enqueue, leaveInbox, cancel)
    #expect(cancelled.dispatch(startsAtOnce: true) && cancelled.isPending)
    var observed = status(enqueue, leaveInbox)
    observed.insert(.observed)
    #expect(observed.dispatch(startsAtOnce: true) && observed.isPending)
  }

  @Test("A dependent is notified without a reference only while its queue retains it, unobserved")
  func meetingInQueue() {
    var loose = status(addDependency)
    #expect(loose.dependencyWasMetInQueue() == nil && loose.unmetDependencyCount == 1)
    var queued = status(enqueue, leaveInbox, addDependency, leaveInbox)
    #expect(queued.dependencyWasMetInQueue()?.mustPush == true && queued.has(.inInbox))
    var observed = status(enqueue, leaveInbox, addDependency, leaveInbox)
    observed.insert(.observed)
    #expect(observed.dependencyWasMetInQueue() == nil && observed.unmetDependencyCount == 1)
    var gone = status(enqueue, addDependency, cancel, start, finish, retire)
    #expect(gone.dependencyWasMetInQueue() == nil)
  }

  @Test("PR-5: the same priority changes nothing, and a dispatched operation is not moved")
  func settingThePriority() {
    var status = status(enqueue, leaveInbox)
    let before = status
    let isPushedUnchanged = status.setPriority(status.priorityIndex)
    #expect(!isPushedUnchanged && status == before)
    #expect(status.dispatch() == true)
    let isPushed = status.setPriority(4)
    #expect(!isPushed)
    #expect(status.priorityIndex == 4)
  }

  @Test("WA-5: waiters continue after the retirement and after the announcement of the removal")
  func announcedRemoval() {
    var status = status(enqueue, leaveInbox, start, finish)
    status.insert(.removalAnnounced)
    let isRetired = status.retire()
    #expect(isRetired && !status.allowsWaitersToContinue)
    let isAdded = status.addWaiter()
    #expect(isAdded && status.has(.hasWaiters))
    status.remove(.removalAnnounced)
    let isAddedLate = status.addWaiter()
    #expect(!isAddedLate && status.allowsWaitersToContinue)
  }

  @Test("Only eligible and pending operations are dispatched")
  func dispatching() {
    let rows: [(OperationStatus, Bool)] = [
      (status(enqueue), true), (status(enqueue, addDependency), false),
      (status(enqueue, addDependency, cancel), true), (status(enqueue, finish), false),
      (status(start), false),
    ]
    for (before, isTaken) in rows {
      var status = before
      #expect(status.dispatch() == isTaken)
      #expect(status.has(.dispatched) == isTaken)
    }
    var parked = status(enqueue, dispatch)
    parked.undispatch()
    #expect(!parked.has(.dispatched) && parked.state == .ready)
  }

  @Test("Priority, reading and count share the word without touching each other")
  func fieldsDoNotOverlap() {
    var status = OperationStatus()
    status.priorityIndex = 4
    for _ in 0..<300 { _ = status.beginReading() }
    for _ in 0..<1_000 { _ = status.dependencyWasAdded() }
    #expect(status.priorityIndex == 4 && status.unmetDependencyCount == 1_000)
    _ = status.cancel(isAnnounced: false)
    #expect(status.reading == 300 + 1_000)
    #expect(status.priorityIndex == 4 && status.unmetDependencyCount == 1_000)
    #expect(!status.isFinished && !status.has(.enqueued))
  }

  @Test("DE-16: a value counts until isReady is read again, and not for 2,047 readings after")
  func oldAnswers() {
    var status = status(enqueue)
    let reading = status.beginReading()
    #expect(status.readinessWasRead(true, reading: reading).isCurrent)
    var oldOnes = 0
    for _ in 0..<0x7ff {
      _ = status.beginReading()
      var answered = status
      if !answered.readinessWasRead(false, reading: reading).isCurrent, answered == status {
        oldOnes += 1
      }
    }
    #expect(oldOnes == 0x7ff)
    #expect(status.unmetDependencyCount == 0 && status.isEligible)
  }

  @Test("DE-1: an operation that would wait for 2^24 dependencies ends the process with a message")
  func tooManyDependenciesInOwnProcess() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var status = OperationStatus()
      status.rawValue |= UInt64.max << 40
      _ = status.dependencyWasAdded()
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains("16,777,215 dependencies"), "\(printed)")
  }

  @Test("CB-4, WA-4: a flag for the finish is accepted until the finish")
  func promises() {
    var status = OperationStatus()
    #expect(status.promise(.hasCompletion) && status.has(.hasCompletion))
    _ = status.finish()
    #expect(!status.promise(.hasDependents) && !status.has(.hasDependents))
  }
}
