// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import Dashboard
import MonitorProtocol
import Testing

@testable import OpqTop

/// Tests of the options that also have a key in the settings file.
@Suite("The options of the dashboard")
struct DashboardOptionsTests {
  private static func options(_ arguments: String...) throws -> DashboardOptions {
    try ViewOptions.parse(arguments).dashboard
  }

  /// Returns the sentence with which a command refuses its arguments.
  private static func refusal(
    of command: any ParsableCommand.Type, _ arguments: [String]
  ) -> String? {
    do {
      _ = try command.parse(arguments)
      return nil
    } catch {
      return command.message(for: error)
    }
  }

  @Test("SF-5: an option has priority over the file, and other values of the file remain")
  func optionsHavePriority() throws {
    let file = try SettingsTreeTests.unusual
    var settings = file
    try Self.options().apply(to: &settings)
    #expect(settings == file)
    try Self.options(
      "--view", "tree", "--sort", "-name", "--filter", "queue:io", "--theme", "dark", "--no-mouse",
      "--no-bell"
    ).apply(to: &settings)
    var expected = file
    expected.view = .tree
    expected.order = SortOrder(by: .name, isReversed: true)
    expected.filter = try OperationFilter("queue:io")
    expected.theme = .dark
    expected.usesMouse = false
    expected.ringsBell = false
    #expect(settings == expected)
    try Self.options("--sort=age", "--filter", "", "--mouse", "--bell").apply(to: &settings)
    #expect(settings.order == SortOrder(by: .time) && settings.filter == nil)
    #expect(settings.usesMouse && settings.ringsBell)
  }

  private static let commands: [(any ParsableCommand.Type, [String])] = [
    (DefaultCommand.self, []), (AttachCommand.self, []), (RunCommand.self, ["jobs.yaml"]),
    (DemoCommand.self, []), (ReplayCommandLine.self, ["file.opq"]),
  ]

  @Test("SF-5: each command with a dashboard has the options", arguments: 0..<5)
  func eachCommandHasTheOptions(index: Int) {
    let (command, arguments) = Self.commands[index]
    for option in [
      ["--view", "kinds"], ["--sort", "-priority"], ["--filter", "state:exec"],
      ["--theme", "none"], ["--mouse"], ["--no-mouse"], ["--bell"], ["--no-bell"],
    ] {
      #expect(Self.refusal(of: command, arguments + option) == nil, "\(option)")
    }
  }

  @Test(
    "SF-5: a wrong value of an option is refused in one sentence",
    arguments: [
      (
        ["--view", "lists"],
        "The value 'lists' is invalid for '--view <name>': unknown view \"lists\"; "
          + "the views are operations, tree, queues, timeline, events, kinds"
      ),
      (["--sort", "size"], "unknown order \"size\"; the orders are id, state, "),
      (["--filter", "state:x"], "state must be "),
      (
        ["--theme", "pink"],
        "The value 'pink' is invalid for '--theme <name>': unknown theme \"pink\"; "
          + "the themes are auto, dark, light, none"
      ),
      (["--color=always", "--theme=none"], "use only one of --color=always and --theme=none"),
    ])
  func wrongValuesAreRefused(arguments: [String], words: String) throws {
    for (command, others) in Self.commands {
      let refusal = try #require(Self.refusal(of: command, others + arguments))
      #expect(refusal.contains(words), "\(refusal)")
    }
  }

  @Test("SF-13: --sort and --filter also have an effect on --batch")
  func batchHasOrderAndFilter() throws {
    let view = try ViewOptions.parse(["--batch", "--sort=-name", "--filter=state:exec"])
    #expect(view.batchOptions.order == SortOrder(by: .name, isReversed: true))
    #expect(view.batchOptions.filter == (try OperationFilter("state:exec")))
    let start = MonitorTime(nanoseconds: 0)
    let hello = Hello(
      processName: "p", processID: 1, isReadOnly: true, anchor: start, anchorSecondsSince1970: 0,
      processStarted: start)
    let operations = [(3, "b"), (1, "a"), (2, "c")].map { id, name in
      OperationReport(
        id: .init(UInt64(id)), name: name, className: "C", queue: .init(1), state: .executing)
    }
    func names(_ order: SortOrder?) -> [String]? {
      var picture = MonitorPicture(order: order)
      picture.take(.hello(hello), at: start)
      var update = Update(time: start, queues: [QueueReport(id: .init(1), name: "q")])
      update.changed = operations
      picture.take(.update(update), at: start)
      return picture.frame(at: start)?.operations.map(\.name)
    }
    #expect(names(nil) == ["a", "c", "b"])
    #expect(names(SortOrder(by: .name)) == ["a", "b", "c"])
    #expect(names(SortOrder(by: .name, isReversed: true)) == ["c", "b", "a"])
  }

  @Test(
    "SF-13: options without an effect on text are refused",
    arguments: ["--view=tree", "--theme=dark", "--mouse", "--no-mouse", "--bell", "--no-bell"])
  func screenOptionsNeedTheScreen(option: String) {
    for (command, others) in Self.commands {
      #expect(
        Self.refusal(of: command, others + ["--batch", option])
          == "use only one of --batch and \(option)")
    }
    #expect(
      Self.refusal(of: RunCommand.self, ["jobs.yaml", "--dry-run", option])
        == "use only one of --dry-run and \(option)")
  }

  @Test("SF-13: a run without the dashboard has no order and no filter")
  func runsWithoutDashboardHaveNoOrder() {
    for option in ["--sort=name", "--filter"] {
      let arguments = ["jobs.yaml", "--batch", option] + (option == "--filter" ? ["x"] : [])
      #expect(
        Self.refusal(of: RunCommand.self, arguments) == "use only one of --batch and \(option)")
    }
    #expect(
      Self.refusal(of: DemoCommand.self, ["--batch", "--sort=-position"])
        == "--sort=-position needs the dashboard")
  }
}
