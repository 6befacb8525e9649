// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension SlurmJob {
  /// What has happened.
  enum Event: Sendable {
    /// `sbatch` has ended.
    case submission(Submission)
    /// A call of `squeue` has ended, with or without an answer.
    case queue(QueueAnswer)
    /// The files of the job were read.
    case files(SlurmFileContents)
    /// An attempt to prevent the start of the job has ended.
    case revocation(Revocation)
    /// The request to cancel the job has ended.
    case cancellation(Cancellation)
    /// Slurm was asked for its own record of the exit status of the job.
    case exit(ExitAnswer)
    /// The operation was cancelled.
    case stop
    /// Some time has passed without another event.
    case time

    /// Whether the event is an answer about the job that the caller compares with newly read files.
    var isAnswer: Bool {
      switch self {
      case .queue, .revocation, .exit: true
      case .submission, .files, .cancellation, .stop, .time: false
      }
    }
  }

  /// The answer of `sbatch`.
  enum Submission: Hashable, Sendable {
    case accepted(id: Int)
    /// Slurm has refused the job, with these words.
    case refused(String)
    /// The directory of the cluster cannot be written, with the message of the system. The job was not submitted.
    case unusableFiles(String)
    /// It is not known whether the job was submitted, for this reason.
    case unclear(String)
  }

  /// The answer of `squeue`.
  enum QueueAnswer: Hashable, Sendable {
    /// The jobs with the comment of this job.
    case records([SlurmRecord])
    /// The call has failed, for this reason. The state of the job is not known.
    case failure(String)
  }

  /// The result of an attempt to prevent the start of a job.
  enum Revocation: Hashable, Sendable {
    /// The job has not started, and will not execute the command.
    case revoked
    /// The job has started.
    case started
    /// It is not known whether the job has started, for this reason.
    case unclear(String)
  }

  /// The result of a request to cancel a job.
  enum Cancellation: Hashable, Sendable {
    /// The job has not started, and will not execute the command. `isReceived` is whether Slurm has received the
    /// request.
    case revoked(isReceived: Bool)
    /// The job has started, and its end was requested.
    case requested
    /// It is not known whether Slurm and the wrapper have received the request.
    case unclear
  }

  /// The answer of `scontrol` about the exit status of a job.
  enum ExitAnswer: Hashable, Sendable {
    case record(SlurmExit)
    /// Slurm has no record of the job.
    case noRecord
    /// The call has failed, for this reason. The exit status is not known.
    case failure(String)
  }

  /// What the caller must do.
  enum Action: Hashable, Sendable {
    /// Submit the command with a comment of its own.
    case submit
    /// Pass on the id and the submission time: ``SlurmJob/submission`` has changed.
    case note
    /// Cancel the job in Slurm, and request its wrapper to end the command.
    case cancel
    /// Prevent the start of the job.
    case revoke
    /// The job will not execute the command. Cancel it in Slurm if an answer of `squeue` shows it.
    case abandon
    /// Ask Slurm for the exit status of the job.
    case askExit
    /// Report the status of the operation.
    case report(String)
    /// Report the status of the operation, unless the command has written a line, which is the status then.
    case reportPlace(String)
    /// Add a line to the log of the operation.
    case log(String)
    /// The job has ended. No action follows.
    case finish(End)
  }

  /// How the job has ended.
  enum End: Hashable, Sendable {
    /// The command has ended with this exit status, in the form of a shell.
    case exited(Int32)
    /// The command has ended by a signal, or with an exit status, according to Slurm.
    case recorded(SlurmExit)
    /// The command cannot be started on the node.
    case notStarted(SlurmFileContents.Obstacle)
    /// The files of the job cannot be written, for this reason.
    case unusableFiles(String)
    /// Slurm has refused the job, with these words.
    case refused(String)
    /// Slurm has ended the job, with this state.
    case ended(SlurmState)
    /// The job was started, Slurm does not know it, and its wrapper is not alive.
    case lost
    /// Slurm has lost the job repeatedly before its start.
    case neverStarted
    /// The job has ended after the operation was cancelled.
    case stopped
    /// The job has ended, and its exit status is not known.
    case unknown

    /// Whether the command has ended by itself, according to Slurm or to the wrapper.
    var hasExitStatus: Bool {
      switch self {
      case .exited, .recorded: true
      case .notStarted, .unusableFiles, .refused, .ended, .lost, .neverStarted, .stopped, .unknown:
        false
      }
    }
  }
}
