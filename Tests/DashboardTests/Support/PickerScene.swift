// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// Processes for tests of the picker (the list from which a user selects a process), and dashboards
/// that watch one of them.
enum PickerScene {
  /// A process that accepts commands.
  static let tilebuild = ProcessChoice(
    id: "/run/4711", processID: 4711, programName: "tilebuild", uptime: .seconds(102),
    totalCount: 854, isReadOnly: false, versions: "1.0")
  /// A process that accepts no commands.
  static let imaged = ProcessChoice(
    id: "/run/5002", processID: 5002, programName: "imaged", uptime: .seconds(11_425),
    totalCount: 12_041, isReadOnly: true, versions: "1.3")
  /// A process that cannot be attached to.
  static let oldtool = ProcessChoice(
    id: "/run/5120", processID: 5120, programName: "oldtool", uptime: .seconds(41),
    versions: "0.9", refusal: "too old for this opq-top (1.x)")

  static let hello = hello(of: tilebuild)

  /// Returns the greeting of a process.
  static func hello(of choice: ProcessChoice) -> Hello {
    var hello = Scene.hello
    hello.processName = choice.programName
    hello.processID = choice.processID
    hello.isReadOnly = choice.isReadOnly == true
    return hello
  }

  /// Returns `count` processes that accept commands.
  static func choices(_ count: Int) -> [ProcessChoice] {
    (0..<count).map { index in
      ProcessChoice(
        id: "/run/\(index)", processID: Int32(100 + index), programName: "service \(index)",
        uptime: .seconds(index), totalCount: index * 100, isReadOnly: false, versions: "1.0")
    }
  }

  /// Returns a dashboard that is attached to a process with the state of ``Scene``.
  static func attached(
    to choice: ProcessChoice = tilebuild, columns: Int = 80, rows: Int = 24,
    isReadOnly: Bool = false
  ) -> Dashboard {
    var dashboard = Dashboard(
      configuration: .init(
        source: .process(choice.id), title: "tiles", guidance: "the demo's guidance",
        isReadOnly: isReadOnly))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(hello(of: choice))))
    dashboard.take(.monitor(.update(Scene.update)))
    return dashboard
  }

  /// Returns an attached dashboard whose picker is open and shows these processes.
  static func picker(
    _ choices: [ProcessChoice], columns: Int = 80, rows: Int = 24
  ) -> Dashboard {
    var dashboard = attached(columns: columns, rows: rows)
    dashboard.press("o")
    dashboard.take(.found(choices))
    return dashboard
  }
}
