// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobRun

/// `opq-top runs --prune`: deletes runs whose jobs are not executed.
struct RunPruning {
  /// A run that is old enough, and that is kept nevertheless.
  struct Kept: Equatable {
    /// Why the run is kept.
    enum Reason {
      /// A command of it is alive.
      case command
      /// A viewer shows it.
      case viewer
    }

    /// The id of the run.
    let id: String
    let reason: Reason

    /// The reason as one sentence.
    var sentence: String {
      switch reason {
      case .command: "\(id) is kept, because a command of it is still running"
      case .viewer: "\(id) is kept, because a dashboard still shows it"
      }
    }
  }

  /// The minimum age of the runs to delete.
  let age: Duration
  /// The wall clock, in nanoseconds since 1970.
  let now: Int64

  /// Returns the runs to delete. A run is kept if its runner is alive or may be about to begin, or if a command of it
  /// may be alive.
  ///
  /// - Parameters:
  ///   - runs: All runs.
  ///   - hasCommand: A function that returns whether a command of a run may be alive, although its runner is not.
  /// - Returns: The runs to delete, and those that are not running and are kept.
  func choice(
    from runs: [RunSummary], hasCommand: (RunDirectory) -> Bool = { $0.mayHaveLivingCommand }
  ) -> (deleted: [RunSummary], kept: [Kept]) {
    var (deleted, kept): ([RunSummary], [Kept]) = ([], [])
    for run in runs where run.age(at: now) >= age {
      switch run.state {
      case .running, .starting: continue
      case .shown:
        kept.append(Kept(id: run.directory.id, reason: .viewer))
        continue
      // A newer opq-top may just have created the run.
      case .damaged where run.age(at: now) < RunDirectory.startTime: continue
      case .finished, .interrupted, .damaged: break
      }
      if hasCommand(run.directory) {
        kept.append(Kept(id: run.directory.id, reason: .command))
      } else {
        deleted.append(run)
      }
    }
    return (deleted, kept)
  }

  /// Deletes runs.
  ///
  /// - Returns: The number of deleted runs, and the reasons why others could not be deleted.
  static func delete(_ runs: [RunSummary]) -> (count: Int, failures: [RunFailure]) {
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
