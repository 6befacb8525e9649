// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// Runs random programs until one fails, and then reduces the failing program as far as possible.
struct Examination {
  /// A function that runs a program with a time limit for expected events, and returns the
  /// violation that it finds, if any.
  typealias Check = @Sendable (Program, _ patience: Duration) -> Discrepancy?

  /// The beginning of the description of a failure. It says how the programs ran.
  let title: String
  let check: Check
  /// A function that generates the program that a seed determines.
  var makeProgram: @Sendable (UInt64) -> Program = { ProgramGenerator.program(seed: $0) }
  /// The time limit for expected events. It is much longer than any event needs, so that a slow
  /// machine does not cause failures.
  var patience: Duration = .seconds(Patience.seconds)
  /// The time limit for the runs that reduce a failing program, because most of them fail.
  var shortPatience: Duration = .milliseconds(500)
  /// The time limit for repeating a failed program; `nil` if failed programs are not repeated. It
  /// is set if failures are expected and `patience` is short. A program that does not fail again
  /// was only delayed by the machine.
  var confirmingPatience: Duration?
  /// A failing program with at most this number of steps is not reduced further.
  var sufficientStepCount = 0
  /// The number of programs that run at the same time.
  var laneCount = 2

  /// A random program that has failed, with its seed and the violation.
  struct Failure {
    let seed: UInt64
    let program: Program
    let discrepancy: Discrepancy
  }

  private struct Progress {
    var next = 0
    var runningLanes: Int
    /// For each lane (a thread that runs programs), the current program and the time of its start.
    var current: [(index: Int, since: ContinuousClock.Instant)?]
    var failing: (index: Int, discrepancy: Discrepancy)?
  }

  /// Returns a description of the first failure among a number of programs; `nil` if none fails.
  /// The first program has the seed `seed`, and each following program has the next seed.
  func finding(inPrograms count: Int, seed: UInt64) -> String? {
    guard let failure = firstFailure(inPrograms: count, seed: seed) else { return nil }
    let (smallest, last) = shrunk(failure.program, failure.discrepancy)
    let place = last.stepCount == nil ? "at the end" : "at the marked step"
    let length = failure.program.steps.count
    return """
      \(title), \(place). OPQ_SEED=\(failure.seed) repeats it, \(length) steps long.

      \(failure.discrepancy.findings.joined(separator: "\n"))

      The smallest program:

      \(smallest.text(marking: last.stepCount))

      \(last.findings.joined(separator: "\n"))
      """
  }

  /// Runs programs until one fails, and returns the failure; `nil` if none fails.
  func firstFailure(inPrograms count: Int, seed: UInt64) -> Failure? {
    let progress = Monitored(
      Progress(runningLanes: laneCount, current: Array(repeating: nil, count: laneCount)))
    for lane in 0..<laneCount { startThread { runLane(lane, count, seed, progress) } }
    while !progress.comesTrue(within: 1, { $0.runningLanes == 0 }) {
      if let index = hangingProgram(progress.value) {
        let hang = Discrepancy(stepCount: nil, findings: ["a call does not return"])
        progress.change { $0.failing = (index, hang) }
        break
      }
    }
    guard let (index, discrepancy) = progress.value.failing else { return nil }
    let own = seed &+ UInt64(index)
    return Failure(
      seed: own, program: makeProgram(own), discrepancy: discrepancy)
  }

  private func runLane(
    _ lane: Int, _ count: Int, _ seed: UInt64, _ progress: Monitored<Progress>
  ) {
    while true {
      let index = progress.change { progress -> Int? in
        guard progress.next < count, progress.failing == nil else { return nil }
        defer { progress.next += 1 }
        progress.current[lane] = (progress.next, .now)
        return progress.next
      }
      guard let index else { break }
      let program = makeProgram(seed &+ UInt64(index))
      guard let discrepancy = failure(of: program) else { continue }
      progress.change { $0.failing = $0.failing ?? (index, discrepancy) }
    }
    progress.change {
      $0.current[lane] = nil
      $0.runningLanes -= 1
    }
  }

  private func failure(of program: Program) -> Discrepancy? {
    guard let discrepancy = check(program, patience) else { return nil }
    return confirmingPatience.map { check(program, $0) } ?? discrepancy
  }

  /// Returns the index of a program that runs much longer than its time limits allow; `nil` if
  /// there is none. A run waits up to three times: after a step, for the end, and for the release
  /// of its objects.
  private func hangingProgram(_ progress: Progress) -> Int? {
    let now = ContinuousClock.now
    let limit = max(patience, .seconds(Patience.seconds)) * 4
    return progress.current.compactMap { $0 }.first { now - $0.since > limit }?.index
  }

  // MARK: Shrinking

  /// Returns the smallest failing program that was found, and its failure.
  func shrunk(_ program: Program, _ discrepancy: Discrepancy) -> (Program, Discrepancy) {
    var last = discrepancy
    let isCertain = (0..<3).allSatisfy { _ in boundedCheck(program) != nil }
    let smallest = Shrinker(sufficientStepCount: sufficientStepCount).shrink(program) { candidate in
      guard let discrepancy = isCertain ? confirmed(candidate) : sometimes(candidate) else {
        return false
      }
      last = discrepancy
      return true
    }
    return (smallest, last)
  }

  /// Runs a program, and runs it again if it fails. Returns the second failure; `nil` if a run
  /// succeeds. The method is used if the original program fails in each run.
  private func confirmed(_ program: Program) -> Discrepancy? {
    boundedCheck(program) == nil ? nil : boundedCheck(program)
  }

  /// Runs a program up to 30 times, and returns the first failure. The method is used if the
  /// original program does not fail in each run.
  private func sometimes(_ program: Program) -> Discrepancy? {
    for _ in 0..<30 {
      if let discrepancy = boundedCheck(program) { return discrepancy }
    }
    return nil
  }

  /// Runs a program on a separate thread. If the program hangs, the thread is abandoned.
  private func boundedCheck(_ program: Program) -> Discrepancy? {
    let outcome = Monitored<Discrepancy??>(nil)
    let seconds = 10 + 4 * Int(shortPatience.components.seconds)
    startThread { [check, shortPatience] in
      let discrepancy = check(program, shortPatience)
      outcome.change { $0 = .some(discrepancy) }
    }
    guard outcome.comesTrue(within: seconds, { $0 != nil }), let result = outcome.value else {
      return Discrepancy(stepCount: nil, findings: ["a call does not return"])
    }
    return result
  }
}
