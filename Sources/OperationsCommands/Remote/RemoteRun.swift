// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import SystemPackage

/// One run of a work in another process, in the process that waits for the result.
struct RemoteRun<Work: RemoteWork>: Sendable {
  let work: Work
  let place: RemotePlace
  /// The operation that receives the reports of the work.
  let operation: Operation

  private var workName: String { String(describing: Work.self) }
  private let lastLines = LastLines()

  init(_ work: Work, on place: RemotePlace, reportingTo operation: Operation) {
    self.work = work
    self.place = place
    self.operation = operation
  }

  /// Runs the work. If the task is cancelled, ends the other process.
  ///
  /// - Returns: The output.
  /// - Throws: `RemoteError`; `CommandError` if the process cannot be started or ended; `CancellationError` if the
  ///   task is cancelled and the work has no output.
  func output() async throws -> Work.Output {
    if csystem_has_more_privileges() { throw RemoteError(.privileges, workName) }
    let typeName = ServedTypes.name(of: Work.self)
    guard ServedTypes.shared.type(named: typeName) != nil else {
      throw RemoteError(.notServed, workName)
    }
    do {
      try preparePlace()
      let build = try ExecutableBuild.own(isHashed: isHashed)
      var files = try RemoteFiles.create(in: place.directory)
      files.synchronizes = !isChild
      defer { files.remove() }
      try writeRequest(
        RemoteRequest(build: build, typeName: typeName, endsWithWriter: isChild), files)
      let lock = try lockRequest(files)
      defer { if let lock { csystem_close(lock) } }
      return try output(of: files, end: await perform(files))
    } catch let failure as RemoteFiles.Failure {
      throw fileError(failure.path, failure.number)
    } catch let number as Errno {
      throw fileError(place.executable ?? "/proc/self/exe", number)
    }
  }

  /// Checks whether the place can be used, and creates its directory if this is the first job in it.
  private func preparePlace() throws {
    guard case .slurm(let cluster, _) = place.kind else { return }
    guard cluster.sharesFiles else {
      var error = RemoteError(.file, workName)
      error.path = cluster.directory
      error.reason = "this process does not share the files of the cluster"
      throw error
    }
    if place.directory == cluster.directory { csystem_make_directory(cluster.directory) }
  }

  /// Whether a copy of the executable counts as the same build. By default, a child process has the same file, whose
  /// contents need not be read. On another machine, the same file may have another device or inode.
  private var isHashed: Bool {
    switch place.kind {
    case .process: place.executable != nil
    case .slurm: true
    }
  }

  /// Whether the other process is a child of this one, and ends if this process ends.
  private var isChild: Bool {
    switch place.kind {
    case .process: true
    case .slurm: false
    }
  }

  /// Locks the request while this process waits. If a child gets the lock, this process has ended. This also works if
  /// this process ends before the child starts to wait.
  private func lockRequest(_ files: RemoteFiles) throws(RemoteFiles.Failure) -> Int32? {
    guard isChild else { return nil }
    let lock = csystem_lock_file(files.request)
    // If the file system has no locks, the child waits for the end of its parent.
    if csystem_has_no_locks(-lock) { return nil }
    if lock < 0 { throw RemoteFiles.Failure(path: files.request, number: Errno(rawValue: -lock)) }
    return lock
  }

  private func writeRequest(_ request: RemoteRequest, _ files: RemoteFiles) throws {
    do {
      try files.writeRequest(request, work)
    } catch let failure as RemoteFiles.Failure {
      throw failure
    } catch {
      throw RemoteError(.workCoding, workName, reason: "\(error)")
    }
  }

  // MARK: The process

  /// Starts the other process, and waits for its end.
  ///
  /// - Returns: The error of its command; `nil` if it has ended with the exit status 0.
  private func perform(_ files: RemoteFiles) async throws -> (any Error)? {
    let command = try command(files)
    let ended = CommandEvents()
    async let reports: Void = report(files, until: ended)
    var failure: (any Error)?
    let run = CommandRun(command, CommandReport(to: operation))
    do {
      switch place.kind {
      case .process: _ = try await run.result { await DirectRun(run: run).perform() }
      case .slurm(let cluster, let resources):
        let job = SlurmRun(run: run, cluster: cluster, resources: resources)
        _ = try await run.result(waitingForPlace: false) { await job.perform() }
      }
    } catch {
      failure = error
    }
    ended.note(.end)
    await reports
    return failure
  }

  private func command(_ files: RemoteFiles) throws -> Command {
    var command = Command(try executable)
    command.name = workName
    command.environment = ["OPQ_MONITOR": nil, "OPQ_RECORD": nil, "OPQ_VIEWER": nil]
    if csystem_secure_environment("SWIFT_BACKTRACE") == nil {
      command.environment["SWIFT_BACKTRACE"] = "enable=no"
    }
    command.environment.merge(place.environment) { $1 }
    command.environment[RemoteFiles.variable] = files.directory
    command.output = .lines { [lastLines] in lastLines.note($0) }
    command.gracePeriod = place.gracePeriod
    return command
  }

  /// The path of the executable. It contains a slash, so that it is not searched in the directories of `PATH`.
  private var executable: String {
    get throws {
      if let path = place.executable { return path.contains("/") ? path : "./\(path)" }
      var path = [CChar](repeating: 0, count: 1 << 12)
      let error = csystem_executable_path(&path, path.count)
      if error != 0 {
        throw RemoteFiles.Failure(path: "/proc/self/exe", number: Errno(rawValue: error))
      }
      let name = String(
        decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if case .slurm = place.kind, name == "/proc/self/exe" {
        throw RemoteError(.otherBuild, workName)
      }
      return name
    }
  }

  /// Passes the reports of the work on to the operation, until the other process has ended.
  private func report(_ files: RemoteFiles, until ended: CommandEvents) async {
    var tail = FileTail(path: files.messages, from: 0)
    var isLast = false
    while !isLast {
      await ended.wait(for: [.end], atMost: .milliseconds(200))
      isLast = ended.has(.end)
      for line in tail.advance(isLast: isLast) {
        switch RemoteMessage(line: line) {
        case .progress(let completed, let total):
          operation.reportProgress(completed: completed, of: total)
        case .status(let status): operation.reportStatus(status)
        case .log(let level, let text): operation.appendLogLine(text, level: level)
        case nil: break
        }
      }
    }
  }

  // MARK: The result

  /// Returns the output of a process that has ended.
  ///
  /// If there is an answer, the work ended before the process. Then the end of the process is ignored, except if the
  /// process is still alive.
  private func output(of files: RemoteFiles, end: (any Error)?) throws -> Work.Output {
    if let error = end as? CommandError, error.code == .stillAlive { throw error }
    csystem_look_at_directory(files.directory)
    do {
      let output = try RemoteFiles.read(files.answer, RemoteAnswer.self) {
        (answer, reader, position) throws -> Work.Output in
        guard answer == .output else { throw error(of: answer) }
        do {
          return try reader.decode(Work.Output.self, at: position)
        } catch {
          throw RemoteError(.outputCoding, workName, reason: "\(error)")
        }
      }
      guard let output else { throw RemoteError(.otherBuild, workName) }
      return output
    } catch let failure as RemoteFiles.Failure where csystem_is_not_found(failure.number.rawValue) {
      throw error(ofMissingAnswer: end)
    } catch let error as DecodingError {
      throw RemoteError(.outputCoding, workName, reason: "\(error)")
    }
  }

  /// Returns the error of a process that has ended and has left no answer.
  private func error(ofMissingAnswer end: (any Error)?) -> any Error {
    let commandError = end as? CommandError
    if let end, commandError == nil { return end }
    if let error = RemoteError(endOf: commandError, workName, lastLines: lastLines.lines) {
      return error
    }
    return commandError ?? RemoteError(.noResult, workName)
  }

  /// Returns the error for an answer without an output.
  private func error(of answer: RemoteAnswer) -> any Error {
    switch answer {
    case .output: return RemoteError(.outputCoding, workName)
    case .cancelled: return CancellationError()
    case .otherBuild: return RemoteError(.otherBuild, workName)
    case .notServed: return RemoteError(.notServed, workName)
    case .undecodableWork(let reason): return RemoteError(.workCoding, workName, reason: reason)
    case .unencodableOutput(let reason):
      return RemoteError(.outputCoding, workName, reason: reason)
    case .thrown(let type, let text):
      var error = RemoteError(.thrown, workName, reason: text)
      error.errorType = type
      error.lastLines = lastLines.lines
      return error
    }
  }

  private func fileError(_ path: String, _ number: Errno) -> RemoteError {
    var error = RemoteError(.file, workName, reason: number.description)
    error.path = path
    return error
  }
}
