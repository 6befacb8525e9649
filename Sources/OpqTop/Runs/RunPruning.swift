// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobRun

/// `opq-top runs --prune`: removes runs whose jobs are not executed.
struct RunPruning {
  /// The time within which the runner of a new run begins. A run without a runner may be just starting.
  private static let startTime = Duration.seconds(60)

  /// The minimum age of the runs to remove.
  let age: Duration
  /// The wall clock, in nanoseconds since 1970.
  let now: Int64

  /// Returns the runs to remove. A run is kept if its runner is alive, if a command of it is alive, or if its runner may
  /// be about to begin.
  ///
  /// - Parameters:
  ///   - runs: All runs.
  ///   - hasCommand: A function that returns whether a command of a run is alive, although its runner is not.
  /// - Returns: The runs to remove, and the runs that are kept only because of their commands.
  func choice(
    from runs: [RunSummary], hasCommand: (RunDirectory) -> Bool = { $0.hasLivingShim }
  ) -> (removed: [RunSummary], busy: [RunSummary]) {
    var (removed, busy): ([RunSummary], [RunSummary]) = ([], [])
    for run in runs where run.age(at: now) >= age {
      switch run.state {
      case .running: break
      case .finished: removed.append(run)
      case .interrupted, .damaged:
        if run.age(at: now) < Self.startTime { break }
        if hasCommand(run.directory) { busy.append(run) } else { removed.append(run) }
      }
    }
    return (removed, busy)
  }

  /// Removes runs.
  ///
  /// - Returns: The number of removed runs, and the reasons why others could not be removed.
  static func remove(_ runs: [RunSummary]) -> (count: Int, failures: [RunFailure]) {
    var (count, failures): (Int, [RunFailure]) = (0, [])
    for run in runs {
      do throws(RunFailure) {
        try RunStore.delete(run.directory)
        count += 1
      } catch {
        failures.append(error)
      }
    }
    return (count, failures)
  }

  /// Asks a question on the terminal.
  ///
  /// - Returns: Whether the answer begins with `y`.
  static func asks(_ question: String) -> Bool {
    guard StandardStream.output.write("\(question) [y/N] ") == 0 else { return false }
    var answer: [UInt8] = []
    var byte = 0 as UInt8
    while cmonitor_read(cmonitor_standard_input, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
      answer.append(byte)
    }
    return answer.first.map { $0 | 0x20 == UInt8(ascii: "y") } ?? false
  }
}

extension RunDirectory {
  /// Whether the shim of an attempt is alive. It continues when its runner has ended.
  var hasLivingShim: Bool {
    guard let directory = cmonitor_open_directory(jobs) else { return false }
    defer { cmonitor_close_directory(directory) }
    let suffix = ".shim"
    while let name = cmonitor_next_name(directory) {
      let name = String(cString: name)
      if name.hasSuffix(suffix), files(named: String(name.dropLast(suffix.count))).isShimAlive {
        return true
      }
    }
    return false
  }
}
