// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Draws the help: every key of the view with its action, and the meaning of the dashboard's technical words.
struct HelpView {
  let dashboard: Dashboard
  let layout: Layout

  /// One line in one column of the help.
  private enum Line {
    case heading(String)
    case binding(KeyBinding)
    case sentence(String)
    case blank
  }

  private static let labelWidth = 14
  /// The minimum width of a screen on which the keys are in two columns.
  private static let twoColumnThreshold = 80
  /// The minimum width of a screen on which the keys are in three columns.
  private static let threeColumnThreshold = 120

  /// Returns the number of lines of the help on a screen of this width.
  static func lineCount(of dashboard: Dashboard) -> Int {
    lines(of: dashboard, columns: dashboard.screen.size.columns, glyphs: Glyphs(isUnicode: true))
      .count
  }

  func draw(on canvas: inout Canvas) {
    let lines = Self.lines(of: dashboard, columns: canvas.columns.count, glyphs: canvas.glyphs)
    let bottom = layout.footer ?? canvas.grid.size.rows
    let fits = lines.count <= bottom - 1
    let rows = 1..<(fits ? bottom : bottom - 1)
    let top = max(0, min(dashboard.screen.helpTop ?? 0, lines.count - rows.count))
    for (row, sides) in zip(rows, lines.dropFirst(top)) {
      let width = canvas.columns.count / sides.count
      for (side, line) in sides.enumerated() {
        draw(line, row: row, columns: side * width + 1..<(side + 1) * width, on: &canvas)
      }
    }
    if !fits {
      canvas.write(
        "lines \(top + 1)-\(top + rows.count) of \(lines.count), j k scroll", row: rows.upperBound,
        columns: canvas.columns.dropFirst(), style: Style(.dim))
    }
  }

  private func draw(_ line: Line, row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    switch line {
    case .blank:
      break
    case .heading(let text):
      canvas.write(text, row: row, columns: columns, style: Style(.strong, isBold: true))
    case .sentence(let text):
      canvas.write(text, row: row, columns: columns, style: Style(.dim))
    case .binding(let binding):
      let refusal = binding.changesProcess ? dashboard.refusal : nil
      canvas.write(
        binding.label, row: row, columns: columns.prefix(Self.labelWidth - 1),
        style: Style(refusal == nil ? .accent : .dim))
      canvas.write(
        refusal.map { "disabled: \($0.words)" } ?? binding.help, row: row,
        columns: columns.dropFirst(Self.labelWidth), style: Style(refusal == nil ? .text : .dim))
    }
  }

  /// Returns the lines of the help from the top, each with one to three columns.
  private static func lines(
    of dashboard: Dashboard, columns width: Int, glyphs: Glyphs
  ) -> [[Line]] {
    let view = dashboard.screenContext
    let all = dashboard.replay == nil ? KeyTable.bindings : ReplayKeys.all
    let bindings = all.filter { dashboard.offers($0) }
    func group(_ group: KeyBinding.Group) -> [Line] { lines(of: group, among: bindings, in: view) }
    let columns: [[Line]]
    if width >= threeColumnThreshold {
      columns = [
        group(.acting), group(.looking), group(.moving) + [.blank] + group(.program),
      ]
    } else if width >= twoColumnThreshold {
      columns = [
        group(.acting) + [.blank] + group(.moving), group(.looking) + [.blank] + group(.program),
      ]
    } else {
      let order: [KeyBinding.Group] = [.acting, .moving, .looking, .program]
      columns = [Array(order.map { group($0) }.joined(separator: [Line.blank]))]
    }
    let keys: [[Line]] = (0..<(columns.map(\.count).max() ?? 0)).map { index in
      columns.map { index < $0.count ? $0[index] : .blank }
    }
    let isMultiProcess = !dashboard.shown.processes.isEmpty
    let sentences =
      words(glyphs) + viewWords(view) + (view == .tree ? treeWords : [])
      + (view == .log ? (dashboard.detail?.log?.output == nil ? logWords : outputWords) : [])
      + (isMultiProcess ? multiProcessWords : [])
      + (dashboard.replay == nil ? [] : replayWords) + (dashboard.usesMouse ? mouseWords : [])
    return keys + [[.blank]] + sentences.map { [.sentence($0)] }
  }

  private static func lines(
    of group: KeyBinding.Group, among bindings: [KeyBinding], in view: KeyContext
  ) -> [Line] {
    [.heading(group.rawValue)]
      + bindings.filter { binding in
        binding.group == group && !binding.contexts.isDisjoint(with: [view, .help, .question])
      }.map { .binding($0) }
  }

  /// Returns sentences about the words and the marks of a view, if the view has some that other views lack.
  private static func viewWords(_ view: KeyContext) -> [String] {
    switch view {
    case .list: columnWords
    case .queues, .queue: queueWords
    case .groups: groupWords
    case .timeline: timelineWords
    case .setup: setupWords
    case .tree, .events, .detail, .log, .warnings, .picker, .help, .question: []
    }
  }

  private static let columnWords = [
    "POS: position in the order in which the queue starts its ready operations.",
    "500+ in POS: behind the 500 positions that are known. ~3 in POS: estimated.",
  ]

  private static let queueWords = [
    "STARTS: operations that began to execute, in each of the last 60 seconds.",
    "RATE: starts per second, the mean of 5 seconds.",
    "USE: mean share of slots in use in the last minute. ~3: mean number executing.",
    "SLOT50, SLOT99: median and 99th percentile of the time from ready to started.",
    "RUN50, RUN99: median and 99th percentile of the run time.",
  ]

  private static let groupWords = [
    "EXEC to CANC: operations of the list. They change with the filter of the list.",
    "RATE, SLOT, RUN: all recent operations of the group, whether listed or not.",
    "SLOT50, SLOT99: median and 99th percentile of the time from ready to started.",
    "SLOT and RUN are unknown for a kind that runs in several processes.",
    "RUN TIMES: number of operations by run time, from 1 microsecond to 4 minutes.",
  ]

  private static let timelineWords = [
    "The last line names the colors of kinds, at first the longest run time first.",
    "!: the run failed. Failed runs are red, whatever their kind.",
  ]

  private static let setupWords = [
    "All changes but view have an effect at once. s writes only changed settings.",
    "*: the setting was changed and is not saved. Comments in the file are removed.",
  ]

  private static let treeWords = [
    "ROOTS: unfinished operations that no other unfinished operation depends on.",
    "BELOW: number of known unfinished operations below, including hidden ones.",
    "9+ in BELOW: at least 9, because not all operations below are known.",
    "^seen: the operation also has another row. Enter goes to that row.",
    "+ N folded: N operations are hidden. Enter shows them.",
  ]

  private static let logWords = [
    "Lines appear here if the program logs through OperationLogHandler:",
    "call LoggingSystem.bootstrap { OperationLogHandler(wrapping: handler) } once.",
    "The process stores the last 50 lines of each operation, watched or not.",
  ]

  private static let outputWords = [
    "The screen shows the whole output of the job. Each attempt has its own output.",
    "If the output is empty, the screen shows what opq-top reports about the job.",
    "The search reads the file from the first line on the screen.",
  ]

  private static let replayWords = [
    "The bar at the top: !: a warning appears at this moment. x: an operation fails.",
    "@ takes 90, 1:30, 1h30m, +10s, -10s, 50%, or a time of day such as 14:05:09.",
  ]

  private static let mouseWords = [
    "Mouse: a click selects. A click on a selected row opens it. The wheel scrolls.",
    "A click on a heading of the list sorts. With Shift, most terminals select text.",
  ]

  private static let multiProcessWords = [
    "2#7: operation 7 of process 2. A filter can be 2#7, or 2# for all of process 2.",
    "Of a process that ENDED, only finished and cancelled operations are counted.",
    "Sort by id to group the operations by process.",
  ]

  private static func words(_ glyphs: Glyphs) -> [String] {
    let shares: [(ProportionBar.Share, String)] = [
      (.finished, "finished"), (.cancelled, "cancelled"), (.executing, "executing"),
      (.ready, "ready"), (.waiting, "waiting"),
    ]
    let bar = shares.map { "\(glyphs.share(of: $0)) \($1)" }.joined(separator: "  ")
    return [
      "The bar: \(bar).",
      "held: ready in a suspended queue. cancelled 9 (+1): 1 more is being cancelled.",
      "failed: finished with an error. Failed operations are also counted as finished.",
      "TIME: time in the state, or run time if finished. DEPS: met/all dependencies.",
      "Monitoring uses about 900 bytes of memory per recorded operation.",
    ]
  }
}
