// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Several processes in the picker") struct SeveralProcessesTests {
  private let choices = PickerScene.choices(4)

  private func picker(_ choices: [ProcessChoice]? = nil, columns: Int = 80, rows: Int = 24)
    -> Dashboard
  {
    var dashboard = PickerScene.picker(
      choices ?? self.choices, columns: columns, rows: rows)
    dashboard.press("g")
    return dashboard
  }

  @Test("CP-4: Space chooses a process and selects the next row, and Enter watches all chosen ones")
  func choosing() {
    var dashboard = picker()
    #expect(dashboard.press("  ") == [])
    #expect(dashboard.picker?.chosen == ["/run/0", "/run/1"])
    #expect(dashboard.picker?.selected.processID == 102)
    #expect(dashboard.text().shows("2 chosen"))
    #expect(dashboard.text().shows("Enter attaches to 2 processes as one"))
    #expect(dashboard.press(.enter) == [.open(.processes(["/run/0", "/run/1"]))])
    #expect(dashboard.text().shows("opening 2 processes"))
    #expect(dashboard.press(" ") == [.bell])
  }

  @Test("CP-4: The chosen processes have the numbers of the order of the choice")
  func order() {
    var dashboard = picker()
    dashboard.press("jj gG")
    dashboard.press("g ")
    #expect(dashboard.press(.enter) == [.open(.processes(["/run/2", "/run/0"]))])
  }

  @Test("CP-4: Space removes a chosen process, and one chosen process is watched alone")
  func removing() {
    var dashboard = picker()
    dashboard.press("   ")
    dashboard.press("g  ")
    #expect(dashboard.picker?.chosen == ["/run/2"])
    #expect(dashboard.text().shows("1 chosen"))
    // The selected row is another one.
    #expect(dashboard.picker?.selected.processID == 102 && dashboard.press("j") == [])
    #expect(dashboard.text().shows("Enter attaches to service 2[102]"))
    #expect(dashboard.press(.enter) == [.open(.process("/run/2"))])
    dashboard.take(.openFailed(reason: "it is gone"))
    dashboard.press("k ")
    #expect(dashboard.picker?.chosen == [])
    #expect(!dashboard.text().shows("chosen"))
  }

  @Test("CP-5: A process that cannot be watched, and the demo, cannot be chosen")
  func refusals() {
    var dashboard = picker([PickerScene.oldtool] + choices)
    #expect(dashboard.press(" ") == [.bell])
    #expect(
      dashboard.text().shows("cannot attach to oldtool[5120]: too old for this opq-top (1.x)"))
    #expect(dashboard.press("G ") == [.bell])
    #expect(dashboard.text().shows("the demo cannot be watched together with processes"))
    #expect(dashboard.picker?.chosen == [])
  }

  @Test("CP-5: At most as many processes can be chosen as the program can watch together")
  func limit() {
    let limit = ProcessReport.numbers.count
    var dashboard = picker(PickerScene.choices(limit + 2))
    for _ in 0..<limit { #expect(dashboard.press(" ") == []) }
    #expect(dashboard.press(" ") == [.bell])
    #expect(dashboard.text().shows("at most 16 processes can be watched together"))
    #expect(dashboard.picker?.chosen.count == limit)
    dashboard.press("g j")
    dashboard.press("G")
    dashboard.press("k ")
    #expect(dashboard.picker?.chosen.last == "/run/\(limit + 1)")
  }

  @Test("CP-6: A chosen process that ends or can no longer be watched is no longer chosen")
  func endings() {
    var dashboard = picker()
    dashboard.press("   ")
    var refused = choices[1]
    refused.refusal = "another user's"
    dashboard.take(.found([refused, choices[2], choices[3]]))
    #expect(dashboard.picker?.chosen == ["/run/2"])
    #expect(dashboard.text().shows("1 chosen"))
    dashboard.take(.found([]))
    #expect(dashboard.picker?.chosen == [])
    #expect(dashboard.press(.enter) == [.open(.demo)])
  }

  @Test("CP-4: The demo asks before several processes replace it")
  func question() {
    var dashboard = Scene.dashboard()
    dashboard.press("o")
    dashboard.take(.found(choices))
    dashboard.press("  ")
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("End the demo and attach to 2 processes?"))
    #expect(dashboard.press("y") == [.open(.processes(["/run/0", "/run/1"]))])
  }

  @Test("CP-6: The picker marks all processes that are watched together")
  func watched() {
    var dashboard = Dashboard(configuration: .init(source: .processes(["/run/0", "/run/1"])))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(MultiProcessScene.hello)))
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: MultiProcessScene.processes))))
    dashboard.press("o")
    dashboard.take(.found(choices))
    #expect(dashboard.text().count { $0.contains(" attached") } == 2)
    // The same processes are watched already, in whatever order the user chooses them.
    dashboard.press("gj g ")
    #expect(dashboard.picker?.chosen == ["/run/1", "/run/0"])
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.picker == nil)
  }

  @Test("CP-6: The greeting after the opening is that of the new source, even if it looks the same")
  func sameGreeting() {
    var dashboard = Dashboard(configuration: .init(source: .processes(["/run/0", "/run/1"])))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(MultiProcessScene.hello)))
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: MultiProcessScene.processes))))
    dashboard.press("o")
    dashboard.take(.found(choices))
    dashboard.press("g j ")
    #expect(dashboard.press(.enter) == [.open(.processes(["/run/0", "/run/2"]))])
    // Before the answer, a greeting is that of the present source.
    dashboard.take(.monitor(.hello(MultiProcessScene.hello)))
    #expect(dashboard.connection.source == .processes(["/run/0", "/run/1"]))
    #expect(dashboard.connection.opening != nil)
    dashboard.take(.opened)
    dashboard.take(.monitor(.hello(MultiProcessScene.hello)))
    #expect(dashboard.connection.source == .processes(["/run/0", "/run/2"]))
    #expect(dashboard.connection.opening == nil && dashboard.picker == nil)
    #expect(dashboard.live.operations.count == 0)
  }

  @Test("WN-1: Names of each script and width keep the columns of the picker aligned")
  func names() {
    let names = [
      "漢字 漢字", "👩‍👩‍👧‍👦 family", "שלום עולם", "e\u{301}\u{302}", "\u{1B}[2J\r\n", "\u{202E}evil", "",
      String(repeating: "n", count: 4_096), String(repeating: "漢", count: 2_000),
    ]
    let choices = names.enumerated().map { index, name in
      ProcessChoice(
        id: "/run/\(index)", processID: Int32(100 + index), programName: name, uptime: .seconds(7),
        totalCount: 5, isReadOnly: false, versions: "9.9")
    }
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
      for isUnicode in [true, false] {
        var dashboard = picker(choices, columns: columns, rows: rows)
        for _ in choices { dashboard.press(" ") }
        let picture = dashboard.picture(isUnicode: isUnicode)
        GoldenFrame.checkCells(of: picture)
        let rows = dashboard.screen.overlayLayout.map {
          PickerView.rows(in: $0, of: dashboard.screen.size)
        }
        let places = (rows ?? 0..<0).prefix(names.count).map { row in
          let cells = Array(picture.row(row))
          return cells.indices.filter { cells[$0].scalar == "9" && cells[$0 + 1].scalar == "." }
        }
        #expect(places.count == names.count && Set(places).count == 1, "\(places)")
        #expect(
          (rows ?? 0..<0).prefix(names.count).allSatisfy {
            picture.row($0)[picture.row($0).startIndex + 1].scalar == "+"
          })
      }
    }
  }

  @Test(
    "The picker with chosen processes looks as stored",
    arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func looksAsStored(columns: Int, rows: Int) {
    var dashboard = PickerScene.picker(
      [PickerScene.tilebuild, PickerScene.imaged, PickerScene.oldtool] + choices,
      columns: columns, rows: rows)
    dashboard.press("g  jj")
    dashboard.press(" ")
    GoldenFrame.check(dashboard.picture(), named: "picker-chosen-\(columns)x\(rows)")
  }
}
