// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import JobRun
import MonitorClient
import MonitorProtocol

/// A process of this program that executes the jobs of a run without a terminal. It continues when this process ends.
struct RunnerProcess {
  /// The program of this process, also if its file was replaced.
  private static let path = "/proc/self/exe"
  /// The number of bytes at the end of the runner's output in which its last sentence is searched.
  private static let searchedLength: Int64 = 1 << 16
  /// The beginning of the sentences about errors.
  private static let prefix = "opq-top: "

  private let directory: RunDirectory
  private let command: LaunchedCommand
  /// The size of the output of earlier runners.
  private let outputStart: Int64
  private let viewer: ViewerRun

  /// Starts a runner.
  ///
  /// - Parameters:
  ///   - start: The run.
  ///   - viewer: The run of the viewer, whose waker rings when the runner has ended.
  /// - Throws: `FileError` if the runner cannot be started.
  init(_ start: RunStart, _ viewer: ViewerRun) throws(FileError) {
    directory = start.directory
    self.viewer = viewer
    let output = try Self.openOutput(of: start.directory)
    defer { cmonitor_close(output) }
    var status = cmonitor_file_status()
    outputStart = cmonitor_read_open_status(output, &status) == 0 ? status.size : 0
    command = LaunchedCommand(
      ["opq-top", "run", "--resume", "--runner", start.directory.path]
        + start.retrying.map { "--retry=\($0)" },
      path: Self.path, place: .ownSession)
    try command.start(
      environment: Self.environment(), output: output, waker: viewer.waker)
  }

  /// Opens the file for the output of runners.
  private static func openOutput(of directory: RunDirectory) throws(FileError) -> Int32 {
    var file = cmonitor_open_to_append(directory.log, true)
    if file == -cmonitor_error_file_exists {
      file = cmonitor_open_to_append(directory.log, false)
    }
    guard file >= 0 else {
      throw FileError("cannot create \(directory.log)", errno: -file, status: 2)
    }
    // The file mode mask may have removed permissions of the owner.
    cmonitor_make_private(file)
    return file
  }

  /// Returns the environment of this process.
  private static func environment() throws(FileError) -> [[UInt8]] {
    try InputFile.bytes(of: "/proc/self/environ").split(separator: 0).map { Array($0) }
  }

  /// The process id.
  var processID: Int32 { command.processID }

  /// How the runner has ended; `nil` if it has not ended.
  var ending: Ending? { command.ending }

  /// Waits until the runner listens, and opens it.
  ///
  /// - Parameter open: A closure that opens the process with the socket at a path.
  /// - Returns: The result of the closure; `nil` if the runner has ended.
  /// - Throws: ``ViewerRun/SignalRequest`` if a signal arrives before, or `AttachError` if the runner cannot be
  ///   watched.
  func opened<Value>(_ open: (_ path: String) throws -> Value) throws -> Value? {
    while ending == nil {
      if let signal = viewer.watch.takeRequest() { throw ViewerRun.SignalRequest(signal: signal) }
      do {
        return try open(AttachTarget.process(processID).path())
      } catch let error as AttachError where [.lost, .nothingThere].contains(error.kind) {
        viewer.waker.wait(until: .now + .milliseconds(20))
      }
    }
    return nil
  }

  /// Waits until the runner has ended, but not longer than a duration.
  func awaitEnd(for patience: Duration) {
    let deadline = MonitorTime.now + patience
    while ending == nil, .now < deadline { viewer.waker.wait(until: deadline) }
  }

  /// The last sentence about an error that the runner has printed; `nil` if there is none. It is unsanitised.
  var lastSentence: String? {
    let file = cmonitor_open_to_read(directory.log)
    guard file >= 0 else { return nil }
    defer { cmonitor_close(file) }
    var status = cmonitor_file_status()
    guard cmonitor_read_open_status(file, &status) == 0 else { return nil }
    let begin = max(outputStart, status.size - Self.searchedLength)
    guard begin < status.size else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.size - begin))
    let count = cmonitor_read_at(file, &bytes, bytes.count, begin)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).last { $0.hasPrefix(Self.prefix) }
    return line.map { String($0.dropFirst(Self.prefix.count)) }
  }
}
