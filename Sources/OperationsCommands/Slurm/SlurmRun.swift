// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore

/// A run whose command is a job of a Slurm cluster.
struct SlurmRun: Sendable {
  let run: CommandRun
  let cluster: SlurmCluster
  let resources: SlurmResources
  let files: SlurmFiles
  /// Whether the files stay after the end of the job.
  let keepsFiles: Bool
  /// The time limit of the command, which begins with its start on the node; `nil` for no limit.
  var timeout: Duration?
  /// The path of a file of this machine that gets a copy of the output, if this process cannot read the files of the
  /// job.
  var copy: String?
  /// A submission of an earlier process; `nil` for a command that was not submitted.
  let adopted: SlurmSubmission?
  /// Called before a submission. If it throws, the job is not submitted.
  let willSubmit: @Sendable (SlurmSubmission) async throws -> Void
  /// Called when the id or the submission time of a job is known.
  let didLearn: @Sendable (SlurmSubmission) -> Void

  /// The time after which files of this machine are read again, while the command runs and while the job is pending.
  private static let lookInterval = Duration.milliseconds(200)
  private static let pendingLookInterval = Duration.seconds(1)

  /// The values of a run that change while the job is awaited.
  struct Progress {
    var job: SlurmJob
    var outputs: SlurmOutputs
    var duration: Duration?
    var started: ContinuousClock.Instant?
    var end: SlurmJob.End?
  }

  /// Submits the command, and waits for the end of the job.
  func perform() async -> CommandOutcome.Value {
    if adopted == nil {
      if run.events.has(.stop) { return .failure(CancellationError()) }
      do { try checkTexts() } catch { return .failure(error) }
    }
    let mailbox = SlurmMailbox()
    let number = cluster.poller.add { mailbox.post($0) }
    defer { cluster.poller.remove(number) }
    run.command.gracePeriods?.add(run.events)
    defer { run.command.gracePeriods?.remove(run.events) }
    // The waits of the task end at the latest when this method returns.
    defer { run.events.note(.end) }
    Task { await passStops(to: mailbox) }
    var progress = Progress(
      job: SlurmJob(
        adopting: adopted, wrapperLimit: cluster.wrapperLimit, timeout: timeout),
      outputs: SlurmOutputs(
        run.command, files: files, report: run.report,
        copy: cluster.sharesFiles ? nil : copy.map { SlurmCopy(path: $0) }))
    if adopted == nil, progress.outputs.hasEarlierContents,
      let contents = await look(progress.outputs.beforeStart)
    {
      progress.outputs.skip(contents.parts)
    }
    do {
      return try await follow(&progress, mailbox, number)
    } catch {
      run.report.reportState(run.report.lastLine ?? "")
      return .failure(run.events.has(.stop) ? CancellationError() : error)
    }
  }

  /// Waits for the cancellation of the operation, and for the end of the grace period.
  private func passStops(to mailbox: SlurmMailbox) async {
    await run.events.wait(for: [.stop, .end])
    guard run.events.has(.stop) else { return }
    mailbox.post(.stop)
    await run.events.wait(for: [.graceEnd, .end])
    guard !run.events.has(.end) else { return }
    _ = try? await cluster.calls.run(SlurmScript.endGracePeriod(files))
  }

  /// Follows the job until its end.
  ///
  /// - Throws: The error of `willSubmit`.
  private func follow(
    _ progress: inout Progress, _ mailbox: SlurmMailbox, _ number: Int
  ) async throws -> CommandOutcome.Value {
    let begin = ContinuousClock.now
    if let adopted { cluster.poller.begin(number, comment: adopted.comment) }
    try await perform(progress.job.begin(), &progress, mailbox, number)
    while progress.end == nil {
      if !cluster.sharesFiles {
        cluster.poller.setLook(SlurmLook(files: files, outputs: progress.outputs.next), of: number)
      }
      let limit =
        !cluster.sharesFiles
        ? cluster.pollInterval
        : progress.job.isRunning ? Self.lookInterval : Self.pendingLookInterval
      var events = await mailbox.next(atMost: limit).map { [$0] } ?? []
      if cluster.sharesFiles {
        // A network file system may remember that a file did not exist.
        if events.first?.isAnswer == true { csystem_look_at_directory(files.directory) }
        events.insert(.files(SlurmLook(files: files, outputs: progress.outputs.next).read()), at: 0)
      }
      if events.isEmpty { events = [.time] }
      for event in events where progress.end == nil {
        if case .files(let contents) = event {
          progress.outputs.take(contents.parts)
          progress.duration = contents.duration.map { .seconds($0) } ?? progress.duration
        }
        let actions = progress.job.take(
          event, at: begin.duration(to: .now), now: csystem_wall_nanoseconds() / 1_000_000_000)
        if progress.job.isRunning, progress.started == nil { progress.started = .now }
        try await perform(actions, &progress, mailbox, number)
      }
    }
    return await finish(&progress)
  }

  // MARK: Actions

  private func perform(
    _ actions: [SlurmJob.Action], _ progress: inout Progress, _ mailbox: SlurmMailbox, _ number: Int
  ) async throws {
    for action in actions {
      let submission = progress.job.submission
      switch action {
      case .submit:
        let next = SlurmSubmission(named: run.command.name)
        try await willSubmit(next)
        progress.job.noteSubmission(next)
        Task {
          let answer = await submit(next)
          cluster.poller.begin(number, comment: next.comment)
          mailbox.post(.submission(answer))
        }
      case .note: if let submission { didLearn(submission) }
      case .cancel:
        guard let submission else { continue }
        let request = SlurmCanceller.Request(submission: submission, files: files)
        Task { mailbox.post(.cancellation(await cluster.canceller.cancel(request))) }
      case .revoke:
        guard let submission else { continue }
        Task { mailbox.post(.revocation(await revoke(submission))) }
      case .abandon:
        guard let submission else { continue }
        cluster.poller.abandon(SlurmCanceller.Request(submission: submission, files: files))
      case .askExit:
        guard let submission else { continue }
        Task { mailbox.post(.exit(await exit(of: submission))) }
      case .report(let text): run.report.reportState(text)
      case .reportPlace(let text): run.report.reportState(run.report.lastLine ?? text)
      case .log(let line): run.report.log(line)
      case .finish(let end): progress.end = end
      }
    }
  }

  private func submit(_ submission: SlurmSubmission) async -> SlurmJob.Submission {
    let batch = SlurmBatch(
      command: run.command, files: files, submission: submission,
      directory: cluster.sharesFiles ? Self.currentDirectory : nil)
    let marker = SlurmCalls.marker()
    do throws(SlurmCallFailure) {
      let output = try await cluster.calls.run(
        SlurmScript.submit(
          submission, batch: batch.text, resources: resources, files: files, marker: marker))
      return SlurmAnswer.submission(output, marker: marker)
    } catch {
      return .unclear(error.reason)
    }
  }

  func revoke(_ submission: SlurmSubmission) async -> SlurmJob.Revocation {
    let marker = SlurmCalls.marker()
    do throws(SlurmCallFailure) {
      let script = SlurmScript.revoke(submission, files: files, marker: marker)
      return SlurmAnswer.revocation(try await cluster.calls.run(script), marker: marker)
    } catch {
      // The revocation is repeated after the next answer of `squeue`.
      return .unclear(error.reason)
    }
  }

  private func exit(of submission: SlurmSubmission) async -> SlurmJob.ExitAnswer {
    let marker = SlurmCalls.marker()
    do throws(SlurmCallFailure) {
      let output = try await cluster.calls.run(SlurmScript.showJob(submission, marker: marker))
      return SlurmAnswer.exit(output, of: submission, marker: marker)
    } catch {
      return .failure(error.reason)
    }
  }

  /// Reads the files of the job; `nil` if the call has failed.
  func look(_ outputs: [SlurmLook.Output]) async -> SlurmFileContents? {
    let look = SlurmLook(files: files, outputs: outputs)
    if cluster.sharesFiles {
      // A network file system may remember that a file did not exist.
      csystem_look_at_directory(files.directory)
      return look.read()
    }
    let marker = SlurmCalls.marker()
    let output = try? await cluster.calls.run(SlurmScript.look(look, marker: marker))
    return output.flatMap { SlurmAnswer.look($0, look, marker: marker) }
  }

  // MARK: Texts

  private func checkTexts() throws(CommandError) {
    let texts = run.command.texts + resources.arguments + [files.base]
    guard texts.contains(where: { $0.utf8.contains(0) }) else { return }
    var error = CommandError(.start, run.command.name)
    error.reason = "a text of the command contains a NUL character"
    throw error
  }

  static var currentDirectory: String {
    var bytes = [CChar](repeating: 0, count: 1 << 12)
    guard csystem_current_directory(&bytes, bytes.count) == 0 else { return "/" }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension SlurmRun {
  /// Creates a run whose files have a name of their own in the directory of the cluster, and are deleted at the end.
  init(run: CommandRun, cluster: SlurmCluster, resources: SlurmResources) {
    let name = SlurmSubmission(named: "").comment
    self.init(
      run: run, cluster: cluster, resources: resources,
      files: SlurmFiles(base: "\(cluster.directory)/\(name)"), keepsFiles: false, adopted: nil,
      willSubmit: { _ in }, didLearn: { _ in })
  }
}
