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

/// A directory with programs in place of Slurm's commands and `ssh`. They show one pending job with the id 7.
///
/// While the file `hang` exists, `ssh` writes its process id to the file `hung` and ignores SIGTERM.
final class SlurmStandIns {
  let stored: StoredRunScene

  /// Creates the programs.
  ///
  /// - Parameter change: The shell text of `scontrol hold` and `scontrol release` between the lines `+hold` and `-hold`
  ///   of the file `changes`.
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
    // The arguments are six words for ssh, and the command.
    stored.writeProgram(
      "ssh",
      """
      shift 6
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

  /// Shows the job, and returns when it is shown.
  func show(_ place: String = "slurm") throws -> PseudoTerminal {
    let window = try stored.show(["attach", place], environment: [stored.programPath])
    #expect(window.wait { $0.isAlternate && $0.contains("later") }, "\(window.screen)")
    return window
  }
}
