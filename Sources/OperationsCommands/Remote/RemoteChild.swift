// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import OperationsCore
import SystemPackage

/// One run of a work, in the process that was started for the work.
struct RemoteChild: Sendable {
  /// The time between two checks for new reports of the work.
  private static let lookInterval = Duration.milliseconds(100)

  private var files: RemoteFiles
  /// A descriptor that is readable when this process has received SIGTERM.
  private let termination: Int32

  /// Sets the types of work of this process, and begins the run for which the process was started.
  ///
  /// - Returns: `nil` in a process that was started for another purpose.
  init?(_ types: [any RemoteWork.Type]) {
    ServedTypes.shared.set(types)
    var directory = [CChar](repeating: 0, count: 1 << 12)
    // The variable is removed, so that the programs that the work starts do not run the work again.
    let error = csystem_take_environment(RemoteFiles.variable, &directory, directory.count)
    if csystem_is_not_found(error) { return nil }
    if error != 0 {
      // If the call returned, the whole program would run, and start the work again.
      Self.report("this program cannot run work in another process: \(Errno(rawValue: error))")
      csystem_exit(1)
    }
    let bytes = directory.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    files = RemoteFiles(directory: String(decoding: bytes, as: UTF8.self))
    termination = csystem_watch_termination()
    csystem_buffer_lines()
  }

  /// Runs the work, writes the answer, and ends this process.
  func run() async -> Never {
    var status: Int32 = 1
    do {
      status = try await answerRequest() ? 0 : 1
    } catch let failure as RemoteFiles.Failure {
      Self.report("the file “\(failure.path)” cannot be used: \(failure.number)")
    } catch {
      Self.report("\(error)")
    }
    csystem_exit(status)
  }

  /// Answers the request.
  ///
  /// - Returns: Whether the work has an output.
  /// - Throws: `RemoteFiles.Failure`; `Errno` if the executable cannot be read.
  private func answerRequest() async throws -> Bool {
    let request = try RemoteFiles.read(files.request, RemoteRequest.self) { request, _, _ in request
    }
    guard let request, try request.build.isOwn else {
      try files.writeAnswer(.otherBuild)
      return false
    }
    if request.endsWithWriter { watchWaitingProcess() }
    var child = self
    child.files.synchronizes = !request.endsWithWriter
    guard let type = ServedTypes.shared.type(named: request.typeName) else {
      try files.writeAnswer(.notServed)
      return false
    }
    return try await child.run(type)
  }

  private func run<Work: RemoteWork>(_ type: Work.Type) async throws -> Bool {
    let work: Work?
    do {
      work = try RemoteFiles.read(files.request, RemoteRequest.self) { _, reader, position in
        try reader.decode(type, at: position)
      }
    } catch let failure as RemoteFiles.Failure {
      throw failure
    } catch {
      try files.writeAnswer(.undecodableWork("\(error)"))
      return false
    }
    guard let work else { return false }
    let operation = AsyncOperation(name: String(describing: type)) { try await work.run() }
    let result = await result(of: operation)
    do {
      try write(result, wasCancelled: operation.isCancelled)
    } catch let failure as RemoteFiles.Failure {
      throw failure
    } catch {
      try files.writeAnswer(.unencodableOutput("\(error)"))
      return false
    }
    return (try? result.get()) != nil
  }

  /// Runs the operation that does the work.
  private func result<Output>(
    of operation: AsyncOperation<Output>
  ) async -> Result<Output, any Error> {
    let ended = CommandEvents()
    async let reports: Void = report(operation, until: ended)
    let cancellation = termination < 0 ? nil : DescriptorWatch(termination)
    Task {
      await cancellation?.wait()
      if cancellation?.hasEnded == false { operation.cancel() }
    }
    // The work runs on a thread of the queue. If it blocks this thread, the code of this type continues.
    let queue = OperationQueue(name: "remote work", maxConcurrentOperationCount: 1)
    queue.addOperation(operation)
    await operation.waitUntilFinished()
    cancellation?.end()
    ended.note(.end)
    await reports
    return operation.result ?? .failure(CancellationError())
  }

  private func write<Output: Encodable>(
    _ result: Result<Output, any Error>, wasCancelled: Bool
  ) throws {
    switch result {
    case .success(let output): try files.writeAnswer(.output, output)
    case .failure(let error):
      if error is CancellationError, wasCancelled { return try files.writeAnswer(.cancelled) }
      let type = ServedTypes.stableName(String(reflecting: Swift.type(of: error)))
      try files.writeAnswer(.thrown(type: type, text: "\(error)"))
    }
  }

  // MARK: Reports

  /// Writes what the operation reports to the file of messages, until it has finished.
  private func report(_ operation: Operation, until ended: CommandEvents) async {
    let file = csystem_open_private_output(files.messages)
    guard file >= 0 else { return }
    defer { csystem_close(file) }
    var sent = SentReports()
    var isLast = false
    while !isLast {
      await ended.wait(for: [.end], atMost: Self.lookInterval)
      isLast = ended.has(.end)
      let lines = OperationLogStore.shared.lines(
        of: .operations([operation.id]), in: (sent.lastSequence + 1)...UInt64.max)
      let messages = sent.messages(
        progress: operation.reportedProgress, status: operation.reportedStatus,
        lines: lines.flatMap(\.lines))
      // All messages are written at once, so that the reader does not see a part of a line.
      let bytes = Array(messages.map { "\($0.line)\n" }.joined().utf8)
      if !bytes.isEmpty { _ = csystem_write(file, bytes, bytes.count) }
    }
  }

  private static func report(_ text: String) {
    let line = Array("\(text)\n".utf8)
    csystem_write_to_standard_error(line, line.count)
  }

  // MARK: The waiting process

  /// Ends this process and its group when the process that waits for the result ends.
  ///
  /// This process waits for a lock that the waiting process holds. It cannot always wait for its parent: the waiting
  /// process may already have ended, or a program of the user may be the parent.
  private func watchWaitingProcess() {
    DispatchQueue(label: "opq remote work").async {
      let lock = csystem_wait_for_lock(files.request)
      if lock < 0, !csystem_is_not_found(-lock) { csystem_wait_for_parent() }
      files.remove()
      csystem_kill_group(csystem_process_id())
      csystem_exit(1)
    }
  }
}
