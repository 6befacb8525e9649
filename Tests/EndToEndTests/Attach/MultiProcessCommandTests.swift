// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

/// Tests in which `opq-top` watches several processes at the same time.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct MultiProcessCommandTests {
  /// Creates two processes whose sockets are in the same directory.
  private func pair() throws -> (first: MonitoredProcess, second: MonitoredProcess) {
    let first = try MonitoredProcess()
    return (first, try MonitoredProcess(in: first.runtime))
  }

  /// Returns the number of finished operations that the table of processes shows for a process.
  private func finishedCount(of process: MonitoredProcess, on screen: VirtualScreen) -> Int? {
    let rows = screen.lines.map { $0.split(separator: " ") }
    guard let row = rows.first(where: { $0.dropFirst().first == "\(process.id)" }),
      row.count > 8
    else { return nil }
    return Int(row[8].replacing(",", with: ""))
  }

  /// Returns the numbers of executing, ready and waiting operations that the table of processes
  /// shows for a process.
  private func unfinishedCounts(of process: MonitoredProcess, on screen: VirtualScreen) -> [String]
  {
    let rows = screen.lines.map { $0.split(separator: " ").map(String.init) }
    let row = rows.first { $0.dropFirst().first == "\(process.id)" && $0.contains("ENDED") } ?? []
    return Array(row.drop { $0 != "ENDED" }.dropFirst(2).prefix(3))
  }

  @Test("Two processes are shown together, and one answer cancels an operation of each")
  func cancelsInEach() throws {
    let (first, second) = try pair()
    let window = try first.watch(
      rows: 40, ["attach", "\(first.id)", "\(second.id)"], until: "sum 2 processes")
    #expect(window.screen.contains("2 processes  ATTACHED rw  LIVE"))
    tagOneOfEach(on: window)
    window.type("x")
    #expect(window.wait { $0.contains("Cancel 2 operations: 1#") })
    window.type("y")
    #expect(window.wait { $0.contains("cancel requested: 2 operations") })
    for process in [first, second] { #expect(process.waitUntilLogged("cancel #")) }
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("CP-4: Processes that are chosen in the picker are shown together")
  func choosesInPicker() throws {
    let (first, second) = try pair()
    let window = try first.watch(
      rows: 40, ["attach", "\(first.id)"], until: "\(first.id)]  ATTACHED rw")
    window.type("o")
    #expect(window.wait { $0.contains("2 processes") && $0.contains("\(second.id)") })
    window.type("g  ")
    #expect(window.wait { $0.contains("2 chosen") })
    window.type("\r")
    #expect(window.wait { $0.contains("2 processes  ATTACHED rw  LIVE") })
    #expect(window.wait { $0.contains("sum 2 processes") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A stopped process does not delay the other's answer, and answers later")
  func cancelsWhileOneIsStopped() throws {
    let (first, second) = try pair()
    let window = try first.watch(
      rows: 40, ["attach", "\(first.id)", "\(second.id)"], until: "sum 2 processes")
    tagOneOfEach(on: window)
    window.type("x")
    #expect(window.wait { $0.contains("Cancel 2 operations: 1#") })
    second.signal(SIGSTOP)
    window.type("y")
    #expect(
      window.wait {
        $0.contains("cancel requested: 1 operation, 1 without a result: no answer")
      })
    #expect(first.waitUntilLogged("cancel #"))
    second.signal(SIGCONT)
    #expect(window.wait { $0.contains("cancel requested: 2 operations") })
    #expect(second.waitUntilLogged("cancel #"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A process that sends no updates does not hide the other one")
  func oneNeverReports() throws {
    let processes = [try ScriptedProcess(), try ScriptedProcess()]
    let window = try PseudoTerminal(columns: 120, rows: 30)
    try window.start(BuiltProgram.path, ["attach"] + processes.map(\.path))
    let mute = try processes[0].accept()
    mute.send(.hello(ScriptedProcess.hello(startTicks: 6), versions: .current))
    let other = try processes[1].welcome()
    let answering = [mute, other].map { Thread.answeringPings(of: $0) }
    #expect(window.wait { $0.contains("2#42 ") && $0.contains("one job") })
    #expect(!window.screen.contains("SILENT"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    for gate in answering { #expect(gate.waitUntilOpen()) }
  }

  /// Tags an operation of each process in the dashboard.
  private func tagOneOfEach(on window: PseudoTerminal) {
    #expect(window.wait { $0.contains(" 1#") && $0.contains(" 2#") })
    // The tagged operations are at the end of the lists, where operations wait for a long time, so
    // they do not finish before the test uses them.
    for filter in ["1# state:waiting", "2# state:waiting"] {
      // The filter is pasted, because each typed letter would already change the filter.
      window.type("\\\u{15}\u{1B}[200~\(filter)\u{1B}[201~\r")
      // The test waits until both processes have answered the filter, each with about 400
      // operations. The following keys then apply to operations that stay in the list.
      let process = String(filter.prefix(2))
      #expect(
        window.wait { screen in
          screen.contains("filter: \(filter) ") && !screen.contains("operations 500 of ")
            && screen.lines.contains { $0.hasPrefix("▌") && $0.contains(" \(process)") }
        })
      window.type("G ")
      #expect(window.wait { $0.contains(filter.hasPrefix("1") ? "1 tagged" : "2 tagged") })
    }
  }

  @Test(
    "The end of a killed process is shown, the other continues, and the terminal is restored")
  func oneIsKilled() throws {
    let (first, second) = try pair()
    let window = try first.watch(
      rows: 40, ["attach", "\(first.id)", "\(second.id)"], until: "sum 2 processes")
    #expect(window.wait { finishedCount(of: second, on: $0) ?? 0 > 0 })
    first.signal(SIGKILL)
    #expect(window.wait { $0.contains("LIVE  1 ENDED") && $0.contains("ENDED ") })
    // For a process that has ended, the table shows no unfinished operations.
    #expect(window.wait { ["0", "0", "0"] == unfinishedCounts(of: first, on: $0) })
    let left = try #require(finishedCount(of: second, on: window.screen))
    #expect(window.wait { finishedCount(of: second, on: $0) ?? 0 > left })
    second.signal(SIGKILL)
    #expect(window.wait { $0.contains("all 2 processes have ended") })
    window.type("x")
    #expect(window.wait { $0.contains("the process has ended") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(!window.screen.isAlternate)
    #expect(window.settings.isCooked)
  }

  @Test("Batch mode prints a frame for each process, with its name")
  func batch() throws {
    let (first, second) = try pair()
    func lines(_ form: [String]) throws -> [String] {
      let (output, errors, ending) = try first.run(
        ["attach", "\(second.id)", first.socket, "--batch", "-n", "1"] + form)
      #expect(ending == .status(0), "\(errors)")
      return output.split(separator: "\n").map(String.init)
    }
    let json = try lines(["--json"])
    #expect(json.count == 2)
    #expect(json.first?.contains("\"pid\":\(second.id)") == true)
    #expect(json.last?.contains("\"pid\":\(first.id)") == true)
    let rows = try lines(["--tsv", "--fields", "id,state"]).map { $0.split(separator: "\t") }
    #expect(rows.first == ["time", "pid", "id", "state"])
    #expect(Set(rows.dropFirst().map { $0[1] }) == ["\(first.id)", "\(second.id)"])
    let own = try lines(["--tsv", "--fields", "id", "--filter", "2#"])
    #expect(own.count > 1 && own.dropFirst().allSatisfy { $0.contains("\t\(first.id)\t") })
    let text = try lines([])
    #expect(text.last?.contains("operations of 2 processes, total ") == true)
  }

  @Test("In batch mode, only finished operations of an ended process stay in the sum")
  func sumWhereOneHasEnded() throws {
    let processes = [try ScriptedProcess(), try ScriptedProcess()]
    let directory = try TemporaryDirectory()
    let output = directory.file("output")
    let window = try PseudoTerminal(columns: 120)
    try window.start(
      BuiltProgram.path, ["attach"] + processes.map(\.path) + ["--batch", "-d", "20ms"],
      redirections: [1: output])
    let viewers = try zip(processes, [5, 6]).map { process, ticks in
      try process.welcome(ScriptedProcess.hello(startTicks: UInt64(ticks)))
    }
    var sums: [Substring] {
      let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").filter { $0.contains(" operations of ") }
    }
    func waitForSum(_ counts: String) -> Bool {
      let deadline = ContinuousClock.now + .seconds(60)
      while !sums.contains(where: { $0.contains("operations of 2 processes, \(counts)") }) {
        guard ContinuousClock.now < deadline else { return false }
        window.absorb(for: .milliseconds(20))
      }
      return true
    }
    #expect(waitForSum("total 2: waiting 0, ready 0 (0 held), executing 2, finished 0"))
    var update = ScriptedProcess.update
    update.queues[0].counts = StateCounts(executing: 1, finished: 3, total: 4)
    viewers[1].send(update)
    #expect(waitForSum("total 5: waiting 0, ready 0 (0 held), executing 2, finished 3"))
    viewers[1].send(.bye(Farewell(cause: .processEnds, reason: "it ends")))
    #expect(waitForSum("total 4: waiting 0, ready 0 (0 held), executing 1, finished 3"))
    #expect(sums.last?.contains("operations of 2 processes, total 4") == true)
    viewers[0].close()
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("Batch mode reports the end of a process with its id, and ends with 1 after the last one")
  func allEndInBatchMode() throws {
    let (first, second) = try pair()
    let viewer = try PseudoTerminal(columns: 120, rows: 60)
    let errors = first.runtime.file("errors")
    try viewer.start(
      BuiltProgram.path,
      [
        "attach", "\(first.id)", "\(second.id)", "--batch", "-d", "20ms", "--tsv", "--fields", "id",
      ],
      environment: [MonitoredProcess.variable(first.runtime)], redirections: [2: errors])
    #expect(
      viewer.wait { screen in
        let words = screen.lines.map { $0.split(whereSeparator: \.isWhitespace) }
        return [first, second].allSatisfy { process in
          words.contains { $0.count == 3 && $0[1] == "\(process.id)" }
        }
      })
    first.signal(SIGTERM)
    #expect(first.waitForEnd() == .status(0))
    second.signal(SIGTERM)
    #expect(second.waitForEnd() == .status(0))
    #expect(viewer.waitForEnd() == .status(1))
    let reported = try String(contentsOfFile: errors, encoding: .utf8).split(separator: "\n")
    #expect(reported.count == 2)
    for process in [first, second] {
      #expect(reported.contains { $0.hasPrefix("opq-top: process \(process.id): ") })
    }
  }

  @Test(
    "If one process cannot be watched, none is, and one sentence and the status say why"
  )
  func refusals() throws {
    let process = try MonitoredProcess()
    let id = "\(process.id)"
    func fails(_ arguments: [String], _ status: Int32, _ words: String) throws {
      let (output, errors, ending) = try process.run(
        ["attach"] + arguments + ["--batch", "-n", "1"])
      #expect(ending == .status(status), "\(arguments): \(errors)")
      #expect(output == "")
      #expect(errors.hasPrefix("opq-top: ") && errors.contains(words), "\(arguments): \(errors)")
      #expect(errors.split(separator: "\n").count == 1)
    }
    try fails([id, "2000000000"], 3, "there is no process 2000000000")
    try fails([id, "\(getpid())"], 3, "process \(getpid()) is not monitored")
    try fails([id, "/nowhere/at/all"], 3, "/nowhere/at/all")
    try fails([id, id], 2, "\(id) is given twice")
    try fails([id, process.socket], 2, "is given twice")
    try fails([id, "2", "--record", "file"], 2, "--record needs exactly one process, not 2")
    try fails((1...17).map { "\($0)" }, 2, "at most 16 processes can be shown at once")
    try fails([id, "2", "-p", "1"], 2, "cannot be combined with")
  }
}

extension Thread {
  /// Answers a viewer's pings on another thread until the viewer disconnects, and then opens the
  /// returned gate.
  fileprivate static func answeringPings(of viewer: ScriptedProcess.Viewer) -> Gate {
    let gate = Gate()
    Thread.detachNewThread {
      let ping: (ViewerMessage) -> Bool = { if case .ping = $0 { true } else { false } }
      while case .ping(let token)? = viewer.receive(where: ping) { viewer.send(.pong(token)) }
      gate.open()
    }
    return gate
  }
}
