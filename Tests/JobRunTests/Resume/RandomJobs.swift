// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport

@testable import JobRun

/// A random job file, which can change.
struct RandomJobs {
  private struct Job {
    let name: String
    /// The command changes with the version.
    var version = 0
    /// The number of values of `each`; 0 for a job without `each`.
    var size: Int
    /// A part of each value. Names of files cannot contain all of these parts.
    var mark = "_"
    var needs: Set<String>
    let condition: JobPlan.Condition
    let isOnce: Bool
    var retries: Int
  }

  private var jobs: [Job] = []
  private var nextNumber = 0

  init(count: Int, _ random: inout SeededGenerator) {
    for _ in 0..<count { add(&random) }
  }

  private mutating func add(_ random: inout SeededGenerator) {
    var needs: Set<String> = []
    for job in jobs.suffix(6) where Int.random(in: 0..<3, using: &random) == 0 {
      needs.insert(job.name)
    }
    let choice = Int.random(in: 0..<6, using: &random)
    jobs.append(
      Job(
        name: "j\(nextNumber)",
        size: Int.random(in: 0..<3, using: &random) == 0
          ? Int.random(in: 1...3, using: &random) : 0,
        needs: needs,
        condition: needs.isEmpty || choice > 1 ? .success : choice == 0 ? .failure : .always,
        isOnce: Int.random(in: 0..<8, using: &random) == 0,
        retries: Int.random(in: 0...2, using: &random)))
    nextNumber += 1
  }

  /// Changes a part of the file.
  mutating func change(_ random: inout SeededGenerator) {
    let index = Int.random(in: jobs.indices, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 8: jobs[index].mark = ["_", " ", "/", "é"].randomElement(using: &random) ?? "_"
    case 0...3: jobs[index].version += 1
    case 4: jobs[index].size = Int.random(in: 0...3, using: &random)
    case 5:
      // The condition `failure` requires a need.
      if jobs[index].needs.count > 1 { jobs[index].needs.removeFirst() }
    case 6:
      if index > 0 { jobs[index].needs.insert(jobs[index - 1].name) }
    default:
      add(&random)
      let isNeeded = jobs.contains { $0.needs.contains(jobs[index].name) }
      if !isNeeded { jobs.remove(at: index) }
    }
  }

  /// The plan. The jobs have a random order in the file.
  func plan(_ random: inout SeededGenerator) throws -> JobPlan {
    let lines = jobs.shuffled(using: &random).map { job in
      let values = (0..<job.size).map { "'v\(job.mark)\($0)'" }.joined(separator: ", ")
      let each = job.size > 0 ? ", each: {N: [\(values)]}" : ""
      return
        "  \(job.name): {run: 'echo \(job.version)', needs: [\(job.needs.sorted().joined(separator: ", "))]"
        + "\(each), when: \(job.condition.rawValue), once: \(job.isOnce), retries: \(job.retries)}"
    }
    return try PastRun.plan(lines.joined(separator: "\n"))
  }
}

extension SeededGenerator {
  /// Returns whether something with a probability happens.
  mutating func happens(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &self) < probability
  }
}
