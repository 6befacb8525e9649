// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The phases of an operation, as bars whose lengths are proportional to their durations.
struct DetailLife {
  struct Phase: Equatable {
    let label: String
    let start: MonitorTime
    let end: MonitorTime
    let share: ProportionBar.Share
    let role: Role
  }

  /// The phases, in order; empty if the operation was added before the monitor watched it.
  let phases: [Phase]

  private static let textWidth = 15

  init(report: OperationReport, now: MonitorTime) {
    guard let added = report.added else {
      phases = []
      return
    }
    let end = max(added, report.finished ?? now)
    var phases: [Phase] = []
    func add(
      _ label: String, from start: MonitorTime?, to next: MonitorTime?,
      _ share: ProportionBar.Share, _ role: Role
    ) {
      guard let start else { return }
      let phase = Phase(
        label: label, start: start, end: max(start, next ?? end), share: share, role: role)
      phases.append(phase)
    }
    let left = report.becameReady ?? report.started ?? report.finished
    add("waiting", from: added, to: left, .waiting, .waiting)
    let began = report.started ?? report.finished
    add("ready", from: report.becameReady, to: began, .ready, .ready)
    add("executing", from: report.started, to: report.finished, .executing, .executing)
    // The phase "cancelling" exists only if the operation has started, because a cancelled operation that has
    // not started never does its work.
    let asked = report.started == nil ? nil : report.cancelRequested
    add("cancelling", from: asked, to: report.finished, .cancelled, .cancelling)
    self.phases = phases
  }

  /// Returns a bar with the duration of each phase, one below the other.
  func rows(columns: Int, glyphs: Glyphs) -> [[Span]] {
    guard let first = phases.first, let end = phases.map(\.end).max() else { return [] }
    let cells = max(8, columns - DetailFacts.labelWidth - Self.textWidth)
    let whole = max(1, (end - first.start) / .nanoseconds(1))
    // The share of a duration in the whole time is never negative or above 1, even if a process reports times
    // that are out of order.
    func share(of duration: Duration) -> Double {
      max(0, min(1, duration / .nanoseconds(1) / whole))
    }
    func cell(_ moment: MonitorTime) -> Int {
      Int(share(of: moment - first.start) * Double(cells))
    }
    return phases.map { phase in
      let start = max(0, min(cells - 1, cell(phase.start)))
      let count = max(1, min(cells, cell(phase.end)) - start)
      let bar = String(repeating: Character(glyphs.share(of: phase.share)), count: count)
      let duration = TimeText.fine(phase.end - phase.start, glyphs)
      return [
        Span(phase.label.padded(to: DetailFacts.labelWidth), phase.role),
        Span(String(repeating: " ", count: start)), Span(bar, phase.role),
        Span(String(repeating: " ", count: cells - start - count)),
        Span(duration.paddedLeft(to: 8)),
        Span(
          "\(Int((share(of: phase.end - phase.start) * 100).rounded()))%".paddedLeft(to: 6), .dim),
      ]
    }
  }
}
