// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of the commands for scripts. Each command is a state machine: its input consists of
/// messages, and its output is the printed text and the exit status.
@Suite struct InquiryTests {
  private typealias Scene = InquiryScene
  private let form = InquiryForm()

  // MARK: why

  @Test(
    "why prints the sentence, every reason, the chain and the warnings, sanitised")
  func why() {
    var inquiry = WhyInquiry(Scene.id(3), form)
    #expect(inquiry.interest.detail == Scene.id(3))
    #expect(inquiry.interest.operations == [Scene.id(3)])
    let warning = MonitorWarning(
      kind: .cancelNotHonoured, operations: [Scene.id(3)], count: 1, since: Scene.moment(-3))
    let actions = inquiry.hear(
      Scene.hello(), Scene.update(detail: Scene.detail, warnings: [warning]))
    #expect(
      actions == [
        .print(
          """
          #3 job 3: waits for 1 of 1 dependencies: #2 waiting
            1 1 of 1 dependencies have not finished: it waits for #2, which waits for #1, which is executing
            2 its queue ·[2Jnet is suspended
            #3 waits for #2, which waits for #1 (executing 4.00s)
            ! cancel-not-honoured: #3 job 3 was cancelled 3.00s ago, still runs

          """), .success,
      ])
  }

  @Test("why waits for the reasons of an operation, unless the operation has finished")
  func whyWaits() {
    var inquiry = WhyInquiry(Scene.id(3), form)
    #expect(inquiry.hear(Scene.hello(), Scene.update()) == [])
    #expect(inquiry.hear(Scene.update([], detail: Scene.detail)).last == .success)
    var over = WhyInquiry(Scene.id(9), form)
    let report = Scene.report(9, .finished, started: -2, finished: -1)
    #expect(
      over.hear(Scene.hello(), Scene.update([report])) == [
        .print("#9 job 9: finished at 22:13:19, ran 1.00s\n"), .success,
      ])
  }

  @Test("A cycle of dependencies ends the chain")
  func circle() {
    var inquiry = WhyInquiry(Scene.id(5), form)
    let reports = [
      Scene.report(5, .waiting, needs: [6]), Scene.report(6, .waiting, needs: [5]),
    ]
    let detail = OperationDetail(id: Scene.id(5))
    let actions = inquiry.hear(Scene.hello(), Scene.update(reports, detail: detail))
    #expect(
      actions.first
        == .print(
          "#5 job 5: waits for 1 of 1 dependencies: #6 waiting\n  #5 waits for #6, which waits for #5 (a cycle)\n"
        ))
  }

  @Test(
    "An operation that the process does not report within two seconds is unknown: the status 1")
  func unknown() {
    let message =
      "#99 is unknown: it finished long ago, is not in a queue, or never existed"
    func check(_ inquiry: some Inquiry) {
      var inquiry = inquiry
      #expect(inquiry.nextLook == nil)
      #expect(inquiry.hear(Scene.hello(), Scene.update()) == [])
      #expect(inquiry.nextLook == Scene.moment(2))
      #expect(inquiry.look(atSeconds: 1.9) == [])
      #expect(inquiry.look(atSeconds: 2) == [.end(1, message)])
    }
    check(WhyInquiry(Scene.id(99), form))
    check(TreeInquiry(Scene.id(99), .waitsFor, columns: 80, form))
    check(WaitInquiry([Scene.id(99)], for: .isOver, timeout: nil, form))
  }

  @Test("A process with an incomplete report has ten seconds")
  func slowProcess() {
    var inquiry = WhyInquiry(Scene.id(99), form)
    #expect(inquiry.hear(Scene.hello(), Scene.update(kept: 1)) == [])
    #expect(inquiry.look(atSeconds: 9.9) == [])
    #expect(inquiry.look(atSeconds: 10).last == .end(1, .unknown([Scene.id(99)])))
  }

  @Test("A process without updates ends everything except a wait after ten seconds")
  func silentProcess() {
    func check(_ inquiry: some Inquiry) {
      var silent = inquiry
      #expect(silent.hear(Scene.hello(), .silent(for: .seconds(9))) == [])
      #expect(
        silent.hear(.silent(for: .seconds(10))) == [.end(1, "the process does not answer")])
    }
    check(WhyInquiry(Scene.id(3), form))
    check(TreeInquiry(Scene.id(3), .waitsFor, columns: 80, form))
    check(CancelInquiry([Scene.id(3)], includingDependents: false, form))
    check(SuspendInquiry("net", isSuspended: true, form))
    var wait = WaitInquiry([Scene.id(3)], for: .isOver, timeout: nil, form)
    #expect(wait.hear(Scene.hello(), Scene.update(), .silent(for: .seconds(60))) == [])
    // The process of this test has sent its greeting but no update. Each command ends after a time
    // limit.
    var suspend = SuspendInquiry("net", isSuspended: true, form)
    #expect(suspend.hear(Scene.hello()) == [])
    #expect(suspend.look(atSeconds: 10) == [.end(1, "there is no queue \"net\"")])
    var why = WhyInquiry(Scene.id(3), form)
    #expect(why.hear(Scene.hello()) == [])
    #expect(why.look(atSeconds: 9.9) == [])
    #expect(why.look(atSeconds: 10) == [.end(1, .unknown([Scene.id(3)]))])
  }

  // MARK: tree

  @Test("tree prints the tree of the dashboard, in ASCII on request")
  func tree() {
    var inquiry = TreeInquiry(
      Scene.id(3), .waitsFor, columns: 60, InquiryForm(isUnicode: false))
    #expect(
      inquiry.interest.graphs
        == [Interest.Graph(root: Scene.id(3), direction: .waitsFor, limit: 2_000)])
    #expect(
      inquiry.hear(Scene.hello(), Scene.update()) == [
        .print(
          """
          DEPENDS ON 2  critical path 3      STATE         DEPS   TIME
          #3 job 3                           waiting        0/1  10.0s
          #== #2 job 2                       waiting        0/1  10.0s
              #== #1 job 1                   executing      0/0  4.00s

          """), .success,
      ])
  }

  @Test("tree --dependents prints the dependents of the operation")
  func dependents() {
    var inquiry = TreeInquiry(Scene.id(1), .blocks, columns: 60, form)
    guard case .print(let text) = inquiry.hear(Scene.hello(), Scene.update()).first else {
      Issue.record("nothing is printed")
      return
    }
    #expect(text.hasPrefix("BLOCKS 2 "))
    let rows = text.split(separator: "\n").dropFirst().map { $0.prefix(12) }
    #expect(rows.map { $0.contains("#1") } == [true, false, false])
    #expect(inquiry.members == [Scene.id(1), Scene.id(2), Scene.id(3)])
  }

  // MARK: wait

  @Test("wait ends when each operation has reached the state, and prints a line for each")
  func wait() {
    var inquiry = WaitInquiry(
      [Scene.id(1), Scene.id(3), Scene.id(1)], for: .isOver, timeout: nil, form)
    #expect(inquiry.hear(Scene.hello(), Scene.update()) == [])
    let first = inquiry.hear(
      Scene.update([Scene.report(1, .finished, started: -4, finished: 1)]), at: 1)
    #expect(first == [.print("#1 job 1: finished at 22:13:21, ran 5.00s\n")])
    // Operation 1 has already reached the awaited state. Therefore it does not matter that the
    // process no longer keeps the operation.
    #expect(inquiry.hear(Scene.update([], removed: [Scene.id(1)]), at: 2) == [])
    let last = inquiry.hear(
      Scene.update([Scene.report(3, .cancelled, finished: 3)]), at: 3)
    #expect(
      last == [.print("#3 job 3: cancelled at 22:13:23, never started\n"), .success])
  }

  @Test("An execution between two updates counts, and an unreachable state ends the wait")
  func statesPassedBy() {
    var executing = WaitInquiry(
      [Scene.id(3)], for: WaitGoal(states: [.executing]), timeout: nil, form)
    let ran = Scene.report(3, .finished, started: -2, finished: -1)
    #expect(executing.hear(Scene.hello(), Scene.update([ran])).last == .success)
    let never = Scene.report(3, .cancelled, finished: -1)
    for state in [OperationState.executing, .finished, .held] {
      var inquiry = WaitInquiry([Scene.id(3)], for: WaitGoal(states: [state]), timeout: nil, form)
      #expect(
        inquiry.hear(Scene.hello(), Scene.update([never]))
          == [.end(1, "#3 job 3 is already cancelled")])
    }
  }

  @Test("A failure is a finish, but not a success: the status 1, with the error as printable text")
  func failures() throws {
    var failed = Scene.report(3, .failed, started: -2, finished: -1)
    failed.errorText = "disk \u{1B}[2Jfull"
    for word in ["finished", "failed", "over", "held,failed"] {
      var inquiry = WaitInquiry([Scene.id(3)], for: try .read(word), timeout: nil, form)
      #expect(
        inquiry.hear(Scene.hello(), Scene.update([failed])) == [
          .print("#3 job 3: failed at 22:13:19, ran 1.00s: disk ·[2Jfull\n"), .success,
        ], "\(word)")
    }
    for word in ["succeeded", "cancelled"] {
      var inquiry = WaitInquiry([Scene.id(3)], for: try .read(word), timeout: nil, form)
      #expect(
        inquiry.hear(Scene.hello(), Scene.update([failed]))
          == [.end(1, "#3 job 3 has failed: disk ·[2Jfull")], "\(word)")
    }
    var succeeded = WaitInquiry([Scene.id(3)], for: try .read("succeeded"), timeout: nil, form)
    let finished = Scene.report(3, .finished, started: -2, finished: -1)
    #expect(succeeded.hear(Scene.hello(), Scene.update([finished])).last == .success)
  }

  @Test("A timeout gives status 1, and names the missing operations")
  func timeout() {
    var inquiry = WaitInquiry(
      [Scene.id(1), Scene.id(3)], for: .isOver, timeout: .seconds(5), form)
    #expect(inquiry.hear(Scene.hello(), Scene.update()) == [])
    #expect(inquiry.look(atSeconds: 4.9) == [])
    #expect(inquiry.nextLook == Scene.moment(5))
    #expect(
      inquiry.look(atSeconds: 5) == [.end(1, "timed out; still waiting: #1, #3")])
  }

  @Test("An operation that left its queue before monitoring may be finished or cancelled")
  func passed() {
    var over = WaitInquiry([Scene.id(1)], for: .isOver, timeout: nil, form)
    let others = [Scene.report(7, .executing, started: -1)]
    #expect(over.hear(Scene.hello(), Scene.update(others)) == [])
    #expect(
      over.look(atSeconds: 2) == [
        .print("#1: finished or cancelled; its details are no longer stored\n"), .success,
      ])
    var finished = WaitInquiry(
      [Scene.id(1)], for: WaitGoal(states: [.finished]), timeout: nil, form)
    #expect(finished.hear(Scene.hello(), Scene.update(others)) == [])
    #expect(finished.look(atSeconds: 2) == [.end(1, .unknown([Scene.id(1)]))])
    // The warning says that operation 1 is not in a queue, although other operations depend on it.
    // So operation 1 cannot have finished.
    var awaited = WaitInquiry([Scene.id(1)], for: .isOver, timeout: nil, form)
    let warning = MonitorWarning(
      kind: .neverEnqueuedDependency, operations: [Scene.id(7)], awaited: [Scene.id(1)])
    #expect(awaited.hear(Scene.hello(), Scene.update(others, warnings: [warning])) == [])
    #expect(awaited.look(atSeconds: 2) == [.end(1, .unknown([Scene.id(1)]))])
  }

  @Test("The end of the process, or a lost connection, ends every inquiry with status 1")
  func processGoes() {
    func check(_ inquiry: some Inquiry) {
      var ended = inquiry
      _ = ended.hear(Scene.hello())
      #expect(
        ended.hear(.ended(reason: "the process has exited")).last
          == .end(1, "the process has exited"))
      var lost = inquiry
      _ = lost.hear(Scene.hello())
      #expect(
        lost.hear(.disconnected(reason: "it broke")).last
          == .end(1, "connection lost: it broke"))
    }
    check(WhyInquiry(Scene.id(3), form))
    check(TreeInquiry(Scene.id(3), .blocks, columns: 80, form))
    check(WaitInquiry([Scene.id(3)], for: .isOver, timeout: nil, form))
    check(CancelInquiry([Scene.id(3)], includingDependents: false, form))
    check(SuspendInquiry("net", isSuspended: false, form))
  }

  // MARK: Commands

  @Test("cancel sends one request, and prints each result; a finished operation is no error")
  func cancel() {
    let ids = [Scene.id(3), Scene.id(9)]
    var inquiry = CancelInquiry(ids + ids, includingDependents: false, form)
    #expect(inquiry.hear(Scene.hello()) == [])
    let over = Scene.report(9, .finished, started: -2, finished: -1)
    #expect(inquiry.hear(Scene.update(Scene.reports + [over])) == [.send(.cancel(ids))])
    #expect(inquiry.hear(Scene.update([])) == [])
    let result = CommandResult(command: .cancel(ids), outcomes: [.requested, .alreadyFinished])
    #expect(
      inquiry.hear(.commandResult(result)) == [
        .print("cancel requested: #3 job 3\n#9 job 9 had already finished\n"), .success,
      ])
  }

  @Test("cancel --with-dependents also names the dependents")
  func cancelWithDependents() {
    let ids = [Scene.id(1)]
    var inquiry = CancelInquiry(ids, includingDependents: true, form)
    #expect(inquiry.hear(Scene.hello(), Scene.update()) == [.send(.cancelWithDependents(ids))])
    let result = CommandResult(
      command: .cancelWithDependents(ids), outcomes: [.requested],
      dependents: [Scene.id(2), Scene.id(3)])
    #expect(
      inquiry.hear(.commandResult(result)) == [
        .print(
          """
          cancel requested: #1 job 1
          cancel requested (dependent): #2
          cancel requested (dependent): #3

          """), .success,
      ])
  }

  @Test(
    "An unknown operation has finished if later ones are known, otherwise it is an error")
  func cancelUnknown() {
    func outcome(_ id: UInt64, _ warnings: [MonitorWarning] = []) -> [InquiryAction] {
      let ids = [Scene.id(id)]
      var inquiry = CancelInquiry(ids, includingDependents: false, form)
      let others = [Scene.report(7, .executing, started: -1)]
      #expect(inquiry.hear(Scene.hello(), Scene.update(others, warnings: warnings)) == [])
      // The command is sent even if the process has not reported the operation, because the process
      // may know the operation by then.
      #expect(inquiry.look(atSeconds: 2) == [.send(.cancel(ids))])
      return inquiry.hear(
        .commandResult(CommandResult(command: .cancel(ids), outcomes: [.unknown])))
    }
    #expect(
      outcome(5) == [.print("#5 has already finished, or is not in a queue\n"), .success])
    #expect(outcome(8).last == .end(1, nil))
    let warning = MonitorWarning(
      kind: .neverEnqueuedDependency, operations: [Scene.id(7)], awaited: [Scene.id(5)])
    #expect(outcome(5, [warning]).last == .end(1, nil))
  }

  @Test("Denied gives status 5, a lost answer 1; denied has precedence")
  func statuses() {
    func status(_ outcomes: [CommandResult.Outcome]) -> InquiryAction? {
      let ids = Array(Scene.reports.prefix(outcomes.count).map(\.id))
      var inquiry = CancelInquiry(ids, includingDependents: false, form)
      _ = inquiry.hear(Scene.hello(), Scene.update())
      return inquiry.hear(
        .commandResult(CommandResult(command: .cancel(ids), outcomes: outcomes))
      ).last
    }
    #expect(status([.requested, .alreadyFinished]) == .success)
    #expect(status([.denied]) == .end(5, nil))
    #expect(status([.lost]) == .end(1, nil))
    #expect(status([.lost, .denied, .requested]) == .end(5, nil))
  }

  @Test("A read-only process receives no command, and the status is 5")
  func readOnly() {
    let end = InquiryAction.end(5, "the process is monitored read-only")
    var cancel = CancelInquiry([Scene.id(1)], includingDependents: false, form)
    #expect(cancel.hear(Scene.hello(isReadOnly: true)) == [end])
    var suspend = SuspendInquiry("net", isSuspended: true, form)
    #expect(suspend.hear(Scene.hello(isReadOnly: true)) == [end])
    var why = WhyInquiry(Scene.id(3), form)
    #expect(
      why.hear(Scene.hello(isReadOnly: true), Scene.update(detail: Scene.detail)).last
        == .success)
  }

  @Test("A queue is given by its name or its id; an ambiguous name is an error")
  func queues() {
    func answer(_ word: String) -> [InquiryAction] {
      var inquiry = SuspendInquiry(word, isSuspended: true, form)
      return inquiry.hear(Scene.hello(), Scene.update())
    }
    for word in ["net", "2", "#2"] {
      #expect(answer(word) == [.send(.setSuspended(.init(2), true))], "\(word)")
    }
    #expect(
      answer("twin") == [.end(2, "2 queues are named \"twin\"; use an id: #3, #4")])
    #expect(answer("#4") == [.send(.setSuspended(.init(4), true))])
    #expect(answer("ne\u{1B}t") == [.end(1, "there is no queue \"ne·t\"")])
  }

  @Test("suspend and resume print the new state of the queue")
  func suspend() {
    for (isSuspended, words) in [
      (true, "queue net suspended\n"), (false, "queue net resumed\n"),
    ] {
      var inquiry = SuspendInquiry("net", isSuspended: isSuspended, form)
      _ = inquiry.hear(Scene.hello(), Scene.update())
      let command = MonitorCommand.setSuspended(.init(2), isSuspended)
      let gone = CommandResult(command: command, outcomes: [.unknown])
      var other = inquiry
      #expect(
        other.hear(.commandResult(gone)) == [.print("queue net no longer exists\n"), .end(1, nil)])
      let result = CommandResult(command: command, outcomes: [.requested])
      #expect(inquiry.hear(.commandResult(result)) == [.print(words), .success])
    }
  }
}
