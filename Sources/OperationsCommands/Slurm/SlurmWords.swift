// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Slurm's words as the status of an operation, and as sentences.
enum SlurmWords {
  /// Returns the status of a job that has not ended, for example “pending: Priority, expected 14:05”.
  ///
  /// - Parameters:
  ///   - record: The job.
  ///   - now: The time in seconds since 1970.
  /// - Returns: The status.
  static func status(of record: SlurmRecord, now: Int64) -> String {
    status(
      record.state, reason: record.reason, start: record.start, nodes: record.nodes, now: now)
  }

  /// Returns the status of a job from the values that `squeue` shows; see ``SlurmRecord``.
  static func status(
    _ state: SlurmState, reason: String, start: Int64?, nodes: String, now: Int64
  ) -> String {
    switch state.meaning {
    case .pending:
      var text = "pending"
      if !reason.isEmpty { text += ": \(reason)" }
      if let start { text += ", expected \(clock(start, now: now))" }
      return text
    case .running:
      let state = state.description == "RUNNING" ? "running" : state.lowercased
      return nodes.isEmpty ? state : "\(state) on \(nodes)"
    case .ending: return nodes.isEmpty ? "ending" : "ending on \(nodes)"
    case .completed, .failed, .cancelled, .aborted: return state.lowercased
    }
  }

  /// Returns a time as text in the time zone of this machine: hours and minutes, with the date if it is more than 12
  /// hours away.
  private static func clock(_ time: Int64, now: Int64) -> String {
    var bytes = [CChar](repeating: 0, count: 32)
    csystem_format_time(time, abs(time - now) > 12 * 3600, &bytes, bytes.count)
    let text = bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns why a job is pending, as a sentence; `nil` if this program has no sentence for Slurm's words. If Slurm
  /// names several reasons, the result is the sentence for the first reason that has one.
  static func sentence(aboutReason reason: String) -> String? {
    let reasons = reason.split(separator: ",").map { String($0) }
    return reasons.lazy.compactMap { sentence(aboutOneReason: $0) }.first
  }

  private static func sentence(aboutOneReason reason: String) -> String? {
    switch reason {
    case "Priority": "Slurm starts jobs with a higher priority first"
    case "Resources": "Slurm waits until the resources are free"
    case "BeginTime": "the time before which the job must not start has not come"
    case "Dependency": "the job waits for other jobs of Slurm"
    case "DependencyNeverSatisfied": "a job of Slurm that this job needs has failed"
    case "JobHeldUser": "the user holds the job; “scontrol release” releases it"
    case "JobHeldAdmin": "an administrator holds the job"
    case "JobHoldMaxRequeue": "Slurm holds the job, because it was requeued too often"
    case "launch failed requeued held", "launch_failed_requeued_held":
      "Slurm holds the job, because it could not be started"
    case "JobArrayTaskLimit": "as many tasks of the array run as the array permits"
    case "Licenses": "Slurm waits until a licence is free"
    case "PartitionDown", "PartitionInactive": "the partition is down"
    case "PartitionNodeLimit": "the job needs more nodes than the partition permits or has"
    case "PartitionTimeLimit": "the time limit of the job is longer than that of the partition"
    case "PartitionConfig": "no node of the partition has what the job needs"
    case "Reservation": "the reservation of the job has not begun"
    case "NodeDown": "a node that the job needs is down"
    case "QOSMaxJobsPerUserLimit", "AssocMaxJobsLimit", "QOSJobLimit", "AssociationJobLimit":
      "the user runs as many jobs as the cluster permits"
    case "QOSMaxCpuPerUserLimit", "AssocGrpCpuLimit", "QOSGrpCpuLimit", "QOSResourceLimit",
      "AssociationResourceLimit":
      "the user or the account uses as many resources as the cluster permits"
    default:
      if reason.hasPrefix("ReqNodeNotAvail") {
        "nodes that the job needs are not available"
      } else {
        nil
      }
    }
  }

  /// Returns why Slurm has ended a job, as a part of a sentence; `nil` if the state is all that is known.
  static func sentence(about state: SlurmState) -> String? {
    switch state.description {
    case "BOOT_FAIL": "its node could not be started"
    case "CANCELLED": "it was cancelled"
    case "DEADLINE": "it could not end before its deadline"
    case "LAUNCH_FAILED": "it could not be started on its node"
    case "NODE_FAIL": "its node has failed"
    case "OUT_OF_MEMORY": "it used more memory than it had requested"
    case "PREEMPTED": "another job needed its resources"
    case "TIMEOUT": "it exceeded its time limit"
    default: nil
    }
  }

  /// Returns the words of a command of Slurm about its failure: the last line with an error, without the name of the
  /// command.
  ///
  /// - Parameter output: The output of the command.
  /// - Returns: The words; `nil` if there is no line.
  static func error(in output: String) -> String? {
    let lines = output.split(whereSeparator: \.isNewline).map { String($0) }
    func text(after marker: String, in line: String) -> String? {
      line.firstRange(of: marker).map { String(line[$0.upperBound...]) }
    }
    let words = lines.compactMap {
      text(after: "error: ", in: $0) ?? text(after: "fatal: ", in: $0)
    }
    guard let last = words.last else { return lines.first }
    return text(after: "submission failed: ", in: last) ?? last
  }

  /// Returns whether the words of `sbatch` mean that it does not know if the job was submitted, or that the controller
  /// did not answer. All other words mean that Slurm has refused the job.
  static func isUnclear(_ words: String) -> Bool {
    [
      "Unable to contact slurm controller", "Socket timed out", "Zero Bytes were transmitted",
      "Unexpected message received", "Connection refused", "Connection reset",
      "Connection timed out",
      "in standby mode", "Transport endpoint", "Broken pipe", "Communication connection failure",
      "Communication shutdown failure", "Message send failure", "Message receive failure",
    ].contains { words.contains($0) }
  }
}

extension SlurmState {
  /// The state in lower-case letters.
  fileprivate var lowercased: String { description.lowercased() }
}
