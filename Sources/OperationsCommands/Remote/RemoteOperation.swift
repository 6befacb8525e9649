// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import OperationsCore

/// An asynchronous operation that runs work in another process of the same executable.
///
/// ```swift
/// serveRemoteWork(Thumbnail.self)  // first in main
///
/// let queue = OperationQueue(name: "images", maxConcurrentOperationCount: 4)
/// let thumbnail = RemoteOperation(Thumbnail(path: "a.png", width: 64), on: .process)
/// queue.addOperation(thumbnail)
/// let bytes = try await thumbnail.value
/// ```
///
/// If the work crashes, the operation fails with a ``RemoteError`` that has the signal and the last lines of the
/// output. This process and the other operations continue. The operation uses a slot of its queue from the start of
/// the other process until its end, and no thread except to encode the work and to decode the output.
///
/// ### Results and errors
///
/// The output of the work is the result. If the work throws, the operation fails with a ``RemoteError`` with the name
/// of the error's type and its description, because this process cannot decode each type of error. An output counts
/// even if the other process crashes while it exits.
///
/// ### Progress, status and log
///
/// In the work, `Operation.current` is an operation of the other process. Its progress, its status and its log lines
/// are also those of this operation, at most half a second later. If the work reports faster, some log lines may be
/// left out. If the process crashes, the reports of its last tenth of a second are lost.
///
/// The lines of the standard output and the standard error output of the other process are in the log of this operation
/// too. Their last line is the status until the work reports a status. The order between these lines and the log lines
/// of the work is not defined.
///
/// ### Cancelling
///
/// `cancel()` sends SIGTERM to the process group of the other process, which then cancels the task of the work. After
/// the ``RemotePlace/gracePeriod``, or as soon as the process has ended, all processes of the group receive SIGKILL.
/// The operation finishes when none of them is alive. If the cancelled work returns an output, this output is the
/// result.
///
/// Retries and timeouts work as for any operation. Each attempt needs a new operation:
///
/// ```swift
/// let robust = RetryOperation(maximumAttempts: 3) { _ in
///   TimeoutOperation(after: .seconds(60)) { RemoteOperation(work, on: .process) }
/// }
/// ```
///
/// ### Memory
///
/// The other process writes its output to a file while it encodes it. This process reads the file in small parts while
/// it decodes the output. So each of the two processes has the output once in its memory.
///
/// A value of the type `[UInt8]` is written without a copy, and read from the file without a copy. Each element of any
/// other collection is encoded on its own. This is slower, and an element takes more space in the file: 9 bytes for a
/// `Double`. Foundation's `Data` is written in one step and read byte by byte.
///
/// The file is in the ``RemotePlace/directory``. If this directory is in memory, the file takes memory too.
public final class RemoteOperation<Work: RemoteWork>: AsyncOperation<Work.Output>,
  // Unchecked because a subclass of `Operation` repeats the conformance. All properties are constants.
  @unchecked Sendable
{
  /// The work.
  public let work: Work
  /// The place where the work runs.
  public let place: RemotePlace

  /// Creates an operation for a work.
  ///
  /// The kind of the operation is the name of the work's type.
  ///
  /// - Parameters:
  ///   - work: The work. It is encoded when the operation starts.
  ///   - place: The place where the work runs.
  ///   - name: The operation's name; `nil`, the default, for the name of the work's type.
  ///   - priority: The operation's priority in its queue.
  ///   - dependencies: The operations that must finish before this one can start.
  public init(
    _ work: Work, on place: RemotePlace, name: String? = nil, priority: QueuePriority = .normal,
    dependencies: [Operation] = []
  ) {
    self.work = work
    self.place = place
    super.init()
    kind = String(describing: Work.self)
    self.name = name ?? String(describing: Work.self)
    queuePriority = priority
    for dependency in dependencies { addDependency(dependency) }
  }

  /// Runs the work in another process. Called by the library, once.
  ///
  /// - Returns: The output of the work.
  /// - Throws: ``RemoteError``; ``CommandError`` if the process cannot be started, does not end after SIGKILL, or was
  ///   refused, ended or lost by Slurm; `CancellationError` if the operation is cancelled and the work has returned no
  ///   output.
  public override func run() async throws -> Work.Output {
    try await RemoteRun(work, on: place, reportingTo: self).output()
  }
}
