// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands

extension SlurmPicture {
  /// The name of the class of all jobs, which the display shows as their kind.
  static let className = "job"
  /// The status of a job that Slurm has forgotten before it showed the job's end.
  static let unknownEnd = "Slurm no longer knows the job; how it ended is not known"

  /// Returns the report of a job. It does not contain the job's dependencies.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - queue: The queue of its partition.
  ///   - now: The time of the last answer.
  /// - Returns: The report.
  func report(of job: Job, queue: QueueReport.ID, at now: MonitorTime) -> OperationReport {
    let shown = job.shown
    let name =
      job.tasks == nil ? shown.jobName : "\(Self.clipped(job.taskName)) \(shown.jobName)"
    let state = state(of: job)
    let submitted = shown.submitted.map { time($0) }
    var report = OperationReport(
      id: OperationReport.ID(shown.id), name: name, className: Self.className, queue: queue,
      state: state, priority: shown.priority == 0 ? .veryLow : .normal, added: submitted)
    if showsUsers {
      report.givenKind = shown.user
    } else if !shown.qualityOfService.isEmpty {
      report.givenKind = shown.qualityOfService
    }
    if state != .waiting {
      report.becameReady = job.dependencies.isEmpty ? submitted : job.becameReady
    }
    setTimes(of: job, in: &report)
    if job.hasUnknownEnd {
      report.statusText = Self.unknownEnd
    } else if !state.isOver {
      report.statusText = shown.statusWords(now: secondsSince1970(now))
    }
    report.errorText = shown.failureWords
    return report
  }

  private func setTimes(of job: Job, in report: inout OperationReport) {
    let shown = job.shown
    switch shown.state.meaning {
    case .pending: break
    case .running, .ending: report.started = shown.start.map { time($0) }
    case .completed, .failed, .cancelled, .aborted:
      // A job that was cancelled before its start has the time of the cancellation in both fields.
      let hasRun = shown.state.meaning != .cancelled || !shown.nodes.isEmpty
      if hasRun { report.started = shown.start.map { time($0) } }
      report.finished = shown.end.map { time($0) } ?? job.foundEnded
    }
    if job.hasUnknownEnd { report.finished = job.forgotten }
  }

  private func state(of job: Job) -> OperationState {
    if job.hasUnknownEnd { return .finished }
    return switch job.shown.state.meaning {
    case .pending where job.shown.isHeld: .held
    case .pending: job.shown.hasUnmetDependencies ? .waiting : .ready
    case .running, .ending: .executing
    case .completed: .finished
    case .failed, .aborted: .failed
    case .cancelled: .cancelled
    }
  }

  /// Returns a sentence with the reason why a job is pending; `nil` if the job is not pending or not known.
  func reason(of id: OperationReport.ID, at now: MonitorTime) -> String? {
    guard let job = jobs[id], !job.isOver, job.shown.state.meaning == .pending else { return nil }
    return "Slurm says that it is \(job.shown.statusWords(now: secondsSince1970(now)))"
  }

  // MARK: Times

  /// Returns a time of day on the clock of this process, clamped to the earliest and the latest time of the clock.
  private func time(_ secondsSince1970: Int64) -> MonitorTime {
    let seconds = Double(secondsSince1970) - secondsSince1970AtZero
    return MonitorTime(nanoseconds: 0) + .seconds(seconds)
  }

  private func secondsSince1970(_ time: MonitorTime) -> Int64 {
    Int64((Double(time.nanoseconds) / 1e9 + secondsSince1970AtZero).rounded(.down))
  }

  /// Returns the id of tasks, cut to 60 characters if it is long. It can be very long if there are many tasks.
  private static func clipped(_ id: String) -> String {
    id.utf8.count <= 64 ? id : "\(id.prefix(60))…"
  }
}

extension SlurmPicture.Job {
  /// Whether Slurm has forgotten the job before it showed the job's end.
  var hasUnknownEnd: Bool { forgotten != nil && !shown.state.meaning.isEnd }
}
