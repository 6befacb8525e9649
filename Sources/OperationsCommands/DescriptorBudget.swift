// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Decides whether the file descriptors of the process are enough for one more command.
///
/// The open descriptors are counted before each decision. Descriptors of commands that are about to start may not be
/// open yet, so the greatest number of them is added.
struct DescriptorBudget {
  /// The answer to a command that wants to start.
  enum Decision: Equatable {
    /// The command starts.
    case start
    /// The command waits until another command has started or ended.
    case wait
    /// There are too few descriptors, and the end of no command frees one.
    case refuse
  }

  /// The maximum number of descriptors that are open during a start: the ends of two pipes, the input, the directory, the
  /// process, and a few that system functions open for a short time.
  static let countPerStart: Int64 = 10
  /// The number of descriptors that stay free for the rest of the program. The first command also needs some of them for
  /// the threads that watch all commands.
  static let reserve: Int64 = 16

  private(set) var startingCount: Int64 = 0
  private(set) var runningCount: Int64 = 0

  /// A command wants to start.
  ///
  /// - Parameters:
  ///   - open: The number of open descriptors; negative if it is unknown.
  ///   - limit: The maximum number of descriptors of the process.
  /// - Returns: The answer. If it is `start`, the command counts as starting.
  mutating func request(open: Int64, limit: Int64) -> Decision {
    let needed = max(0, open) + (startingCount + 1) * Self.countPerStart + Self.reserve
    if needed <= limit {
      startingCount += 1
      return .start
    }
    return startingCount + runningCount > 0 ? .wait : .refuse
  }

  /// A command has started: all of its descriptors are open.
  mutating func noteStarted() {
    startingCount -= 1
    runningCount += 1
  }

  /// A command has ended, or has not started: its descriptors are closed.
  mutating func noteEnded(wasStarted: Bool) {
    if wasStarted { runningCount -= 1 } else { startingCount -= 1 }
  }
}
