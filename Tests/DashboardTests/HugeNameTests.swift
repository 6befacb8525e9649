// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Names that are megabytes long")
struct HugeNameTests {
  /// For each view, the keys that select the view or a window in it.
  private static let views = ["", "j", "w", "t", "t*", "\t", "\t\t", "\t\t\t", "x", "?", "p"]

  private func dashboard(name: String) -> Dashboard {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.update(
      changed: Scene.operations.map { report in
        var report = report
        report.name = name
        return report
      })
    return dashboard
  }

  /// Returns the minimum processor time that this thread needs for a closure in a few rounds. Other
  /// work of the machine is not included.
  private func cost(_ body: () -> Void) -> Int64 {
    func time() -> Int64 {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    return (0..<3).map { _ in
      let start = time()
      body()
      return time() - start
    }.min() ?? 0
  }

  @Test(
    "T36: A key and its picture cost about the same for names of any length", arguments: views)
  func costIsThatOfTheScreen(keys: String) {
    let costs = [40, 8 << 20].map { length in
      let start = dashboard(name: String(repeating: "n", count: length))
      return cost {
        var dashboard = start
        for key in keys {
          if key == "\t" { dashboard.press(.tab) } else { dashboard.press(String(key)) }
        }
        dashboard.press("j")
        _ = dashboard.picture()
      }
    }
    // If the dashboard read every character of a single long name, this measurement would take a
    // hundred times as long.
    #expect(costs[1] < 5 * costs[0], "\(costs) ns")
  }
}
