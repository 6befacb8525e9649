// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Makes a program that fails as small as it gets while it still fails.
struct Shrinker {
  /// How many smaller programs to try at most.
  var attemptLimit = 3_000
  /// For how long to try at most.
  var timeLimit: Duration = .seconds(120)

  /// - Parameters:
  ///   - program: One that fails.
  ///   - fails: Whether a program fails.
  /// - Returns: A program that fails, of which no smaller one does as far as was tried.
  func shrink(_ program: Program, while fails: (Program) -> Bool) -> Program {
    let deadline = ContinuousClock.now + timeLimit
    var attemptsLeft = attemptLimit
    var smallest = program
    var seen: Set<Program> = [program]
    var goesOn = true
    while goesOn {
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
