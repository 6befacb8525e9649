// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

/// Tests of a dashboard that replays a recording.
@Suite struct ReplayTests {
  private func status(
    _ position: Int = 41, of length: Int = 102, speed: Int = 2, isPlaying: Bool = true,
    remark: String? = nil
  ) -> ReplayStatus {
    ReplayStatus(
      time: Scene.seconds(Double(position)), position: .seconds(position), length: .seconds(length),
      speed: speed, isPlaying: isPlaying, remark: remark)
  }

  private func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(source: .recording("a.opqrec")))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    // The time of the local clock differs from the times in the recording.
    dashboard.take(.tick(Scene.seconds(9_000)))
    dashboard.take(.replay(status()))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    return dashboard
  }

  @Test func theHeaderShowsThePositionAndTheSpeed() {
    var dashboard = dashboard()
    #expect(dashboard.text()[0].contains("REPLAY 00:41/01:42 4x"))
    for (speed, words) in [(-2, "1/4x"), (-1, "1/2x"), (0, "1x"), (6, "64x")] {
      dashboard.take(.replay(status(speed: speed)))
      #expect(dashboard.text()[0].contains("REPLAY 00:41/01:42 \(words)"))
    }
    dashboard.take(.replay(status(3_661, of: 7_322, isPlaying: false)))
    #expect(dashboard.text()[0].contains("REPLAY 1:01:01/2:02:02 PAUSED"))
    #expect(!dashboard.text().shows("LIVE"))
  }

  @Test(arguments: [(80, 24), (120, 40), (40, 10)])
  func theReplayLooksAsStored(columns: Int, rows: Int) {
    var dashboard = dashboard(columns: columns, rows: rows)
    dashboard.take(.replay(status(102)))
    GoldenFrame.check(dashboard.picture(), named: "replay-\(columns)x\(rows)")
    dashboard.take(
      .replay(
        status(
          102, isPlaying: false,
          remark: "the recording was not completed; the replay ends at the last complete update")))
    GoldenFrame.check(dashboard.picture(), named: "replay-paused-\(columns)x\(rows)")
  }

  @Test("After the end of the recording, the sentence about it is shown instead of the hint")
  func theEndReplacesTheFirstHint() {
    var dashboard = dashboard()
    #expect(dashboard.text().shows("j/k choose"))
    dashboard.take(.replay(status(102, remark: "the recording ends here")))
    // The sentence is a short message at first.
    dashboard.take(.tick(Scene.seconds(9_060)))
    #expect(!dashboard.text().shows("j/k choose"))
    #expect(dashboard.text().shows("the recording ends here"))
  }

  @Test(
    "Its keys have the effects that they announce, in every view",
    arguments: [KeyContext.list, .tree, .queues, .timeline, .events, .detail, .log, .warnings])
  func keys(context: KeyContext) {
    var dashboard = dashboard()
    switch context {
    case .tree: dashboard.press("t")
    case .queues: dashboard.take(.input(.alt("3")))
    case .timeline: dashboard.take(.input(.alt("4")))
    case .events: dashboard.take(.input(.alt("5")))
    case .detail: dashboard.press(.enter)
    case .log: dashboard.press("L")
    case .warnings: dashboard.press("!")
    case .queue, .groups, .setup, .list, .picker, .help, .question: break
    }
    #expect(dashboard.keyContext == context)
    for (input, command): (Input, ReplayCommand) in [
      (.character(" "), .togglePlaying), (.character("p"), .togglePlaying),
      (.character("Z"), .togglePlaying), (.character("["), .changeSpeed(by: -1)),
      (.character("]"), .changeSpeed(by: 1)), (.character(","), .step(-1)),
      (.character("."), .step(1)), (.character("("), .seek(by: .seconds(-5))),
      (.character(")"), .seek(by: .seconds(5))), (.alt("b"), .seek(by: .seconds(-60))),
      (.alt("f"), .seek(by: .seconds(60))), (.alt("<"), .seekToStart), (.alt(">"), .seekToEnd),
      (.character("{"), .previousWarning), (.character("}"), .nextWarning),
    ] {
      #expect(dashboard.take(.input(input)) == [.replay(command)], "\(input)")
    }
    for key in ["x", "S"] {
      let effects = dashboard.press(key)
      #expect(!effects.contains { if case .send = $0 { true } else { false } })
    }
    #expect(
      dashboard.prompts.question == nil && dashboard.tags.ids.isEmpty && dashboard.paused == nil)
  }

  @Test("A command that was not carried out is announced each time, also at the end")
  func failuresAreAnnounced() {
    var dashboard = dashboard()
    var status = status(102, isPlaying: false)
    dashboard.take(.replay(status))
    for number in 1...2 {
      #expect(dashboard.press("}") == [.replay(.nextWarning)])
      #expect(!dashboard.text().shows("no later warning"))
      status.failure = ReplayFailure(number: number, sentence: "the recording has no later warning")
      dashboard.take(.replay(status))
      #expect(dashboard.text().shows("the recording has no later warning"))
    }
  }

  @Test func replayKeysAreUnique() {
    let inputs = ReplayKeys.bindings.flatMap(\.inputs)
    #expect(Set(inputs).count == inputs.count)
    for context in ReplayKeys.contexts {
      let others = ReplayKeys.others(in: KeyTable.bindings)
        .filter { $0.contexts.contains(context) }.flatMap(\.inputs)
      #expect(Set(others).isDisjoint(with: inputs), "\(context)")
    }
  }

  @Test func theHelpNamesTheReplayKeysAndNoCommands() {
    var dashboard = dashboard(rows: 60)
    dashboard.press("?")
    let text = dashboard.text()
    for binding in ReplayKeys.bindings {
      #expect(text.shows(binding.help), "\(binding.label)")
    }
    #expect(!text.shows("cancel") || !text.shows("tag it"))
    #expect(!text.shows("refused"))
    // While the help is shown, `j` scrolls it and `q` closes it, also during a replay.
    #expect(dashboard.press("jq") == [])
    #expect(dashboard.screen.helpTop == nil)
  }

  @Test func aReplayCannotStepBeyondTheEnd() {
    var dashboard = dashboard()
    dashboard.take(.replay(status(102, isPlaying: false)))
    #expect(dashboard.press(".") == [.bell])
    #expect(dashboard.press(",") == [.replay(.step(-1))])
    #expect(dashboard.press(" ") == [.replay(.togglePlaying)])
  }

  @Test(
    "The key that plays and pauses has a fixed width in the footer",
    arguments: Effort.sample(40...140, limits: Scene.widthLimits))
  func theFooterDoesNotMove(columns: Int) {
    var dashboard = dashboard(columns: columns)
    let footer = dashboard.text().last ?? ""
    dashboard.take(.replay(status(isPlaying: false)))
    #expect(footer.contains("Space Pause"))
    #expect(dashboard.text().last == footer.replacing("Space Pause", with: "Space Play "))
  }

  @Test(
    "The footer shows a key that goes back only beside the key that goes forward",
    arguments: Effort.sample(40...140, limits: Scene.widthLimits))
  func pairsInTheFooter(columns: Int) {
    let footer = dashboard(columns: columns).text().last ?? ""
    for (back, forward) in [(", -1", ". +1"), ("[ Slower", "] Faster"), ("( -5s", ") +5s")] {
      #expect(footer.contains(back) == footer.contains(forward), "\(footer)")
    }
    #expect(columns < 80 || footer.contains(", -1  . +1") && footer.contains("@ Time"))
  }

  @Test func commandsAreRefusedWithTheReason() {
    var dashboard = dashboard()
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.text().shows("a recording cannot be changed"))
    #expect(dashboard.press("X") == [.bell])
    #expect(!dashboard.list.cancelKeys.isArmed)
  }

  @Test func timesFollowTheRecordingInBothDirections() {
    var dashboard = dashboard()
    dashboard.take(.replay(status(102)))
    #expect(dashboard.text()[0].contains("12:04:31"))
    #expect(dashboard.text().shows("12.4s  "), "#1042 has run since 89.6 s")
    dashboard.take(.replay(status(90)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    #expect(dashboard.text()[0].contains("12:04:19"))
    #expect(dashboard.text().shows("400ms"))
    // A notice disappears by the local clock, not by the clock of the recording.
    dashboard.press("x")
    dashboard.take(.tick(Scene.seconds(9_006)))
    #expect(!dashboard.text().shows("nothing can be changed"))
  }

  @Test func theSelectionSurvivesASeek() {
    var dashboard = dashboard()
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.take(.replay(status(50)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    #expect(dashboard.list.selection.id == OperationReport.ID(1077))
  }

  @Test("A source that is watched afterwards is live, even if it is the recorded process")
  func leaving() {
    var dashboard = dashboard()
    dashboard.press("o")
    dashboard.take(.found([ProcessChoice(id: "/x", processID: 4711, programName: "opq-top")]))
    dashboard.press("g")
    #expect(dashboard.press(.enter) == [.open(.process("/x"))])
    dashboard.take(.replay(nil))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    #expect(dashboard.replay == nil && dashboard.connection.source == .process("/x"))
    #expect(dashboard.text()[0].contains("ATTACHED") && !dashboard.text()[0].contains("REPLAY"))
    #expect(dashboard.press(" ") == [] && !dashboard.tags.ids.isEmpty)
  }

  @Test func aRecordingThatPlaysIsDrawnEachSecond() {
    var dashboard = dashboard()
    let now = Scene.seconds(9_000)
    #expect(dashboard.nextTick(after: now).map { $0 - now <= .seconds(1) } == true)
    dashboard.take(.replay(status(isPlaying: false)))
    #expect(dashboard.nextTick(after: now) == nil)
  }

  @Test func aFailedRecordingIsShown() {
    var dashboard = Scene.dashboard()
    dashboard.take(.recordingFailed(reason: "the recording stopped: no space"))
    #expect(dashboard.text().shows("the recording stopped: no space"))
  }
}
