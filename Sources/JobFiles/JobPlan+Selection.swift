// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A name that is not the name of a job.
package struct UnknownJobError: Error, Hashable, CustomStringConvertible {
  /// The name.
  package let name: String
  /// The most similar name of a job; `nil` if no name is similar.
  package let nearest: String?

  /// The mistake as one sentence. Characters that control a terminal are escaped.
  package var description: String {
    "unknown job \(name.quoted)" + (nearest.map { "; did you mean \($0.quoted)?" } ?? "")
  }
}

extension JobPlan {
  /// Returns a plan with some of the jobs and without the jobs that they need.
  ///
  /// Needs for jobs that are not in the new plan are removed. The order of the jobs remains.
  ///
  /// - Parameter names: The ids of jobs, or the names of groups.
  /// - Returns: The new plan.
  /// - Throws: The first unknown name.
  package func only(_ names: [String]) throws(UnknownJobError) -> JobPlan {
    keeping(try indices(of: names))
  }

  /// Returns a plan with some of the jobs and with all jobs that they need directly or indirectly.
  ///
  /// The order of the jobs remains.
  ///
  /// - Parameter names: The ids of jobs, or the names of groups.
  /// - Returns: The new plan.
  /// - Throws: The first unknown name.
  package func until(_ names: [String]) throws(UnknownJobError) -> JobPlan {
    keeping(JobGraph(jobs, from: try indices(of: names)).order)
  }

  private func indices(of names: [String]) throws(UnknownJobError) -> [Int] {
    let wanted = Set(names)
    var found: Set<String> = []
    var indices: [Int] = []
    for (index, job) in jobs.enumerated() {
      let isNamed = wanted.contains(job.id)
      let isInGroup = wanted.contains(job.group)
      if isNamed { found.insert(job.id) }
      if isInGroup { found.insert(job.group) }
      if isNamed || isInGroup { indices.append(index) }
    }
    if let unknown = names.first(where: { !found.contains($0) }) {
      let known = unknown.contains("[") ? jobs.map(\.id) : jobs.map(\.group)
      throw UnknownJobError(
        name: unknown, nearest: NearestName.nearest(to: unknown, in: known, limit: 2))
    }
    return indices
  }

  private func keeping(_ indices: [Int]) -> JobPlan {
    var isKept = Array(repeating: false, count: jobs.count)
    for index in indices { isKept[index] = true }
    // For each index, the number of kept jobs before it. The kept jobs of a range follow each other in the new
    // plan, so a range remains one range.
    var positions = [0]
    for isKept in isKept { positions.append((positions.last ?? 0) + (isKept ? 1 : 0)) }
    var plan = self
    plan.jobs = []
    for (job, isKept) in zip(jobs, isKept) where isKept {
      var job = job
      var known: Set<Range<Int>> = []
      job.needs = job.needs.compactMap { need in
        let range = positions[need.lowerBound]..<positions[need.upperBound]
        return !range.isEmpty && known.insert(range).inserted ? range : nil
      }
      plan.jobs.append(job)
    }
    return plan
  }
}
