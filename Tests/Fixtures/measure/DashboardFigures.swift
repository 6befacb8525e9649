// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Measures the dashboard of opq-top in a separate process, on a terminal of 120x40: the time to
/// its first frame, the time for frames with a million operations, and the cost while nothing
/// changes.
enum DashboardFigures {
  /// Starts `opq-top` on a new terminal.
  private static func start(_ arguments: [String]) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: 120, rows: 40)
    try window.start(BuiltFolder.path(of: "opq-top"), arguments)
    return window
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\((duration / .microseconds(1)).rounded() / 1_000) ms"
  }

  private static func measureStart(of view: String) throws {
    let times = try (0..<21).map { _ in
      let began = ContinuousClock.now
      let window = try start(["demo", "--view", view])
      guard window.wait(until: { $0.isAlternate && $0.contains("Help") }) else {
        print("there was no first frame")
        exit(1)
      }
      let time = began.duration(to: .now)
      window.type("Q")
      _ = window.waitForEnd()
      return time
    }.sorted()
    print(
      "to the first frame: median \(milliseconds(times[10])), longest \(milliseconds(times[20]))")
  }

  private static func measureFrames(of view: String) throws {
    let window = try start(["demo", "storm", "--frame-times", "--view", view])
    let isThere = window.wait(seconds: 120) { $0.contains("total 1,") }
    window.absorb(for: .seconds(20))
    window.type("Q")
    _ = window.waitForEnd(seconds: 60)
    let line = window.screen.lines.first { $0.contains(" frames") } ?? "no figures were printed"
    print("with a million operations\(isThere ? "" : " (fewer had come)"): \(line)")
  }

  private static func measureRest(of view: String) throws {
    let window = try start(["demo", "--once", "--speed", "50", "--view", view])
    _ = window.wait(seconds: 150) { $0.contains("the demo has finished") }
    window.absorb(for: .seconds(2))
    let (bytes, time) = (window.byteCount, window.processorTime)
    window.absorb(for: .seconds(20))
    guard let before = time, let after = window.processorTime else { return }
    let share = (after - before) / .seconds(20) * 100
    print(
      "at rest, in 20 s: \(window.byteCount - bytes) bytes, \(milliseconds(after - before)) of a core"
        + " (\((share * 1_000).rounded() / 1_000) %)")
    window.type("q")
    _ = window.waitForEnd()
  }

  static func run(_ arguments: [String]) throws {
    let view = arguments.first ?? "operations"
    try measureStart(of: view)
    try measureRest(of: view)
    try measureFrames(of: view)
  }
}
