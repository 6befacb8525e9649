// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A directory with programs that replace Slurm's commands and `ssh`. They show one pending job with the id 7.
///
/// While the file `hang` exists, `ssh` writes its process id to the file `hung` and ignores SIGTERM.
final class SlurmStandIns {
  let stored: StoredRunScene

  /// Creates the programs.
  ///
  /// - Parameter change: The shell text that `scontrol hold` and `scontrol release` execute. Before it, they write the
  ///   line `+hold` or `+release` to the file `changes`, and after it the line `-hold` or `-release`.
  /// - Throws: The error of a system call.
  init(change: String = ":") throws {
    stored = try StoredRunScene("  unused: {run: 'true'}")
    let directory = stored.directory
    stored.writeProgram(
      "squeue",
      """
      date +%s%N >>'\(directory)/calls'
      while [ "$1" != -o ]; do shift; done
      echo "${2%%-job*}-job 7 7 7 N/A PENDING None 1 N/A N/A  main ann x 42 (null) later" | tr ' ' '\\037'
      """)
    stored.writeProgram(
      "scontrol",
      """
      case $1 in hold | release) ;; *) exit 0 ;; esac
      echo "+$1" >>'\(directory)/changes'
      \(change)
      echo "-$1" >>'\(directory)/changes'
      """)
    // The first 14 arguments are those of ssh. The others are the command.
    stored.writeProgram(
      "ssh",
      """
      shift 14
      test -e '\(directory)/hang' || exec "$@"
      trap '' TERM
      echo $$ >>'\(directory)/hung'
      exec sleep 600
      """)
  }

  deinit {
    for process in hung where StoredRunScene.isAlive(process) { kill(process, SIGKILL) }
  }

  /// The processes `ssh` that hang.
  var hung: [Int32] { stored.lines("hung").compactMap { Int32($0) } }

  /// The times of the calls of `squeue`.
  var calls: [Duration] { stored.lines("calls").compactMap { Int64($0).map { .nanoseconds($0) } } }

  /// Starts `opq-top attach`, and returns when the terminal shows the job.
  func show(_ place: String = "slurm") throws -> PseudoTerminal {
    let window = try stored.show(["attach", place], environment: [stored.programPath])
    #expect(window.wait { $0.isAlternate && $0.contains("later") }, "\(window.screen)")
    return window
  }
}
