// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Processes of other machines on the screen")
struct HostTests {
  /// Returns a dashboard with three processes. The first two processes run on other machines.
  private func shown(
    columns: Int = 80, rows: Int = 24, hosts: [String] = ["web1", "build-server-7.example", ""],
    name: String? = nil
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(source: .processes(["1", "2", "3"])))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(MultiProcessScene.hello)))
    var processes = MultiProcessScene.processes
    for (index, host) in hosts.enumerated() {
      processes[index].hello.host = host
      if let name { processes[index].hello.processName = name }
    }
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: processes))))
    return dashboard
  }

  @Test(
    "RM-2: The table of processes has a column for hosts",
    arguments: [(120, 40), (80, 24)])
  func table(columns: Int, rows: Int) {
    GoldenFrame.check(
      shown(columns: columns, rows: rows).picture(), named: "hosts-\(columns)x\(rows)")
  }

  @Test("RM-2: If programs have the same name, the operations have the host and the process id")
  func sameNames() {
    let dashboard = shown(columns: 120, rows: 40, name: "worker")
    #expect(dashboard.text().shows("ID PROCESS"))
    #expect(dashboard.text().shows("1#1042 web1:4711"))
    let narrow = shown(
      columns: 120, rows: 40, hosts: ["a-long-name", "", "a-long-name"], name: "worker")
    #expect(narrow.text().shows("1#1042 a-l…:4711"))
  }

  @Test("Without a host, there is no column for hosts")
  func noHosts() {
    #expect(!MultiProcessScene.dashboard().text().shows("HOST"))
  }

  @Test("RM-1: The header names the host of a single process")
  func header() {
    var hello = PickerScene.hello
    hello.host = "web1"
    for columns in [120, 80, 40] {
      var dashboard = Dashboard(configuration: .init(source: .process("web1:/run/4711")))
      dashboard.take(.resized(Size(columns: columns, rows: 24)))
      dashboard.take(.tick(Scene.now))
      dashboard.take(.monitor(.hello(hello)))
      dashboard.take(.monitor(.update(Scene.update)))
      #expect(dashboard.text()[0].contains("tilebuild[4711] on web1"))
    }
  }

  @Test("RM-8: The name of a host cannot control the terminal, and is cut if it is long")
  func hostileHost() {
    let host = "\u{1B}[2J\u{9B}1m\u{202E}\n" + String(repeating: "a", count: 10_000)
    for name in [nil, "worker"] {
      let picture = shown(columns: 120, rows: 40, hosts: [host, "", ""], name: name).picture()
      GoldenFrame.checkCells(of: picture)
    }
    let title = shown(hosts: [host, "", ""]).live.processes.first?.title ?? ""
    #expect(!title.isEmpty && title.unicodeScalars.count < 100)
  }

  @Test("RM-1: The picker names the host whose processes it lists")
  func picker() {
    var dashboard = Dashboard(configuration: .init(source: nil, host: "web1"))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.take(.found([PickerScene.imaged]))
    #expect(dashboard.text().shows("processes on web1 to attach to"))
    #expect(dashboard.text().shows("Enter attaches to imaged[5002] on web1, read-only"))
    dashboard.take(.found([]))
    #expect(dashboard.text().shows("No monitored process found on web1."))
  }

  @Test(
    "RM-6: If the processes of a host cannot be found, the picker says why, and tries again later")
  func findingFails() {
    var dashboard = PickerScene.picker([PickerScene.imaged])
    dashboard.press("r")
    #expect(dashboard.take(.findFailed(reason: "web1 does not answer")) == [])
    #expect(dashboard.text().shows("cannot list the processes: web1 does not answer"))
    #expect(dashboard.text().shows("imaged"))
    #expect(dashboard.text().shows("the search has failed"))
    let now = dashboard.now
    #expect(dashboard.take(.tick(now + .seconds(19))) == [])
    #expect(dashboard.take(.tick(now + .seconds(20))) == [.findProcesses(isRequested: false)])
    dashboard.press(.escape)
    #expect(dashboard.take(.findFailed(reason: "too late")) == [])
    #expect(!dashboard.text().shows("too late"))
  }

  @Test(
    "RM-6: If the first search of a host fails, the picker does not say that no process was found")
  func firstFindingFails() {
    var dashboard = Dashboard(configuration: .init(source: nil, host: "web1"))
    dashboard.take(.resized(Size(columns: 120, rows: 24)))
    dashboard.take(.findFailed(reason: "web1 does not answer"))
    #expect(dashboard.text().shows("cannot list the processes: web1 does not answer"))
    #expect(dashboard.text().shows("the search has failed"))
    #expect(!dashboard.text().shows("no process found"))
    #expect(!dashboard.text().shows("No monitored process found"))
    // While a requested search runs, the picker does not show the earlier failure in its title.
    dashboard.press("r")
    #expect(dashboard.text().shows("searching"))
    dashboard.take(.found([]))
    #expect(dashboard.text().shows("No monitored process found on web1."))
    // A later failure does not confirm this result.
    dashboard.press("r")
    dashboard.take(.findFailed(reason: "web1 does not answer"))
    #expect(!dashboard.text().shows("No monitored process found"))
  }

  @Test("RM-1: The log of a job on another machine says where the output of the job is")
  func logOfRun() {
    var hello = PickerScene.hello
    hello.host = "web1"
    var dashboard = Dashboard(
      configuration: .init(source: .process("web1:/run/4711"), runsJobsElsewhere: true))
    dashboard.take(.resized(Size(columns: 120, rows: 24)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    dashboard.press("L")
    #expect(
      dashboard.text().shows(
        "the output of jobs is in files on web1; these are the last lines that the monitor has"))
  }
}
