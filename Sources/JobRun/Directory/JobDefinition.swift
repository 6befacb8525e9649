// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles

/// What a job does, as a short text. If the text of a job differs from the one in the journal, the job has changed.
package struct JobDefinition {
  /// Returns the definition of a job.
  ///
  /// It depends on the command, the shell, the environment from the file, the needs, and the keys `when` and `once`. It
  /// does not depend on the other keys, which only say when and how often the job runs.
  ///
  /// - Parameters:
  ///   - job: A job of the plan.
  ///   - plan: The plan.
  /// - Returns: 16 hexadecimal digits.
  package static func text(of job: JobPlan.Job, in plan: JobPlan) -> String {
    var text = JSONText()
    return hash(of: job, in: plan, environment: plan.environment(of: job), &text)
  }

  /// Returns the definitions of all jobs of a plan, in the order of the plan.
  package static func texts(of plan: JobPlan) -> [String] {
    var text = JSONText()
    var shared: [String: String] = [:]
    for variable in plan.environment { shared[variable.name] = variable.value }
    return plan.jobs.map { job in
      let environment = job.variables.isEmpty ? shared : plan.environment(of: job)
      return hash(of: job, in: plan, environment: environment, &text)
    }
  }

  private static func hash(
    of job: JobPlan.Job, in plan: JobPlan, environment: [String: String], _ text: inout JSONText
  ) -> String {
    // A need for all jobs of a group has the name of the group, so it does not change with the number of jobs.
    let needs = job.needs.map { need in
      need.count > 1 ? plan.jobs[need.lowerBound].group : plan.jobs[need.lowerBound].id
    }
    text.removeAll()
    text.object { text in
      text.member("environment", environment)
      text.member("needs", needs.sorted())
      text.member("once", job.isOnce)
      text.member("run", job.command)
      text.member("shell", job.shell)
      text.member("when", job.condition.rawValue)
    }
    var hash = ShortHash()
    hash.combine(text.bytes)
    return hash.text
  }
}

/// The hash FNV-1a of 64 bits. It is the same in all processes, unlike that of `Hasher`. It is easy
/// to create a second text with the same hash.
struct ShortHash {
  private var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Adds bytes.
  mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// The hash as 16 hexadecimal digits.
  var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
