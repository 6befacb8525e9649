// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

extension JobPlan {
  /// The plan as text, with one line for each job. `JobFile.md` documents it for users.
  ///
  /// Each job follows its needs. A line has the id, the queue, the needs and the command. Characters that
  /// control a terminal are escaped.
  package var text: String {
    let rows = order.map { index in
      let job = jobs[index]
      let needs = job.needs.map { EscapedText.escaped(name(of: $0)) }.joined(separator: " ")
      return [
        EscapedText.escaped(job.id), job.queue, needs.isEmpty ? "-" : needs,
        EscapedText.escaped(job.command),
      ]
    }
    // One long cell must not make all lines long.
    let widths = (0..<3).map { column in min(40, rows.map { $0[column].count }.max() ?? 0) }
    var text = ""
    for row in rows {
      for (cell, width) in zip(row, widths) {
        text += cell + String(repeating: " ", count: max(0, width - cell.count) + 2)
      }
      text += row[3] + "\n"
    }
    return text
  }

  /// The plan as a JSON object on one line that ends with a line break. `JobFile.md` documents it for users.
  package var jsonLine: String {
    JSONLine.text(
      of: Output(
        environment: Dictionary(environment.map { ($0.name, $0.value) }) { $1 },
        jobs: order.map { Output.Job(jobs[$0], needs: jobs[$0].needs.map(name)) },
        queues: queues.map {
          Output.Queue(name: $0.name, rate: $0.startsPerSecond, width: $0.width)
        }))
  }

  /// Returns the name of the group if a need is for all its jobs, and otherwise the id of the job.
  private func name(of need: Range<Int>) -> String {
    let job = jobs[need.lowerBound]
    return need.count > 1 ? job.group : job.id
  }
}

/// The output of `run --dry-run --json`, which `JobFile.md` documents for users.
private struct Output: Encodable {
  struct Queue: Encodable {
    let name: String
    let rate: Int?
    let width: Int
  }

  struct Slurm: Encodable {
    let cpus: Int?
    let gpus: Int?
    let memory: String?
    let options: [String]?
    let partition: String?
    let time: Double?

    init(_ request: JobPlan.SlurmRequest) {
      cpus = request.cpus
      gpus = request.gpus
      memory = request.memory
      options = request.options.isEmpty ? nil : request.options
      partition = request.partition
      time = request.time.map { $0 / .seconds(1) }
    }
  }

  struct Job: Encodable {
    let each: [String: String]
    let grace: Double
    let id: String
    let job: String
    let line: Int
    let needs: [String]
    let once: Bool
    let priority: String
    let queue: String
    let retries: Int
    let retryPause: Double
    let run: String
    let shell: String
    let slurm: Slurm?
    let timeout: Double?
    let when: String

    init(_ job: JobPlan.Job, needs: [String]) {
      each = Dictionary(job.variables.map { ($0.name, $0.value) }) { $1 }
      grace = job.grace / .seconds(1)
      id = job.id
      self.job = job.group
      line = job.line
      self.needs = needs
      once = job.isOnce
      priority = job.priority.rawValue
      queue = job.queue
      // A job that must not be repeated has one attempt. Its retries may come from the defaults of the file.
      retries = job.isOnce ? 0 : job.retries
      retryPause = job.retryPause / .seconds(1)
      run = job.command
      shell = job.shell
      slurm = job.slurm == JobPlan.SlurmRequest() ? nil : Slurm(job.slurm)
      timeout = job.timeout.map { $0 / .seconds(1) }
      when = job.condition.rawValue
    }
  }

  let environment: [String: String]
  let jobs: [Job]
  let queues: [Queue]
}
