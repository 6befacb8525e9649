// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Removes steps and simplifies a failing program as far as possible while it still fails.
struct Shrinker {
  /// The maximum number of programs that are tried while a failing program is reduced.
  var attemptLimit = 3_000
  /// The maximum time for reducing a program.
  var timeLimit: Duration = .seconds(120)
  /// A failing program with at most this number of steps is not reduced further.
  var sufficientStepCount = 0

  /// Reduces a program.
  ///
  /// - Parameters:
  ///   - program: A failing program.
  ///   - fails: Returns whether a program fails.
  /// - Returns: The smallest failing program that was found.
  func shrink(_ program: Program, while fails: (Program) -> Bool) -> Program {
    let deadline = ContinuousClock.now + timeLimit
    var attemptsLeft = attemptLimit
    var smallest = program
    var seen: Set<Program> = [program]
    var goesOn = true
    while goesOn, smallest.steps.count > sufficientStepCount {
      goesOn = false
      for candidate in smallest.smaller where seen.insert(candidate).inserted {
        guard attemptsLeft > 0, ContinuousClock.now < deadline else { return smallest }
        attemptsLeft -= 1
        if fails(candidate) {
          smallest = candidate
          goesOn = true
          break
        }
      }
    }
    return smallest
  }
}
