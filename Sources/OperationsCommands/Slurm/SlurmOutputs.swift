// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The output files of a job, and the data that was read from them.
struct SlurmOutputs: Sendable {
  private struct Stream {
    var output: SlurmLook.Output
    var sink: OutputSink
    /// The size of the file when the command had ended; `nil` if it is not known.
    var lastSize: Int64?

    /// Whether all needed bytes were read. No bytes of a tail are needed.
    var isComplete: Bool { output.isTail || lastSize.map { output.position >= $0 } ?? false }
  }

  private var streams: [Stream] = []
  private let report: CommandReport
  /// The copy of the stream of the file ``SlurmFiles/log``; `nil` if there is none, or if it cannot be written.
  private var copy: SlurmCopy?
  private var copiedStream: Int?
  /// The indices of the streams of the output and of the error output; `nil` for a stream that is not collected.
  private var collected: [Int?] = []

  /// Whether a file has contents from before the job, which do not belong to the job.
  private(set) var hasEarlierContents = false

  init(_ command: Command, files: SlurmFiles, report: CommandReport, copy: SlurmCopy? = nil) {
    self.report = report
    self.copy = copy
    let destinations =
      [(command.output, files.log)]
      + (command.errorOutput.map { [($0, files.errorLog)] } ?? [])
    for (output, log) in destinations {
      collected.append(nil)
      switch output {
      case .collected, .lines:
        collected[collected.count - 1] = streams.count
        add(log, isTail: false, isOwn: true, OutputSink(output, report))
      case .file(let path, let appends):
        if appends, path != log { hasEarlierContents = true }
        add(path, isTail: true, isOwn: path == log, OutputSink(output, report))
      case .discarded: break
      }
    }
    if !streams.contains(where: { $0.output.path == files.log }) {
      add(files.log, isTail: true, isOwn: true, OutputSink(.discarded, report))
    }
    guard let copy, let index = streams.firstIndex(where: { $0.output.path == files.log }) else {
      return
    }
    copiedStream = index
    streams[index].output.isTail = false
    streams[index].output.position = copy.size
  }

  private mutating func add(_ path: String, isTail: Bool, isOwn: Bool, _ sink: OutputSink) {
    let output = SlurmLook.Output(path: path, position: 0, isTail: isTail, isOwn: isOwn)
    streams.append(Stream(output: output, sink: sink))
  }

  /// The parts of the files to read next.
  var next: [SlurmLook.Output] { streams.map(\.output) }

  /// The parts of the files to read before the job starts, to find the end of the earlier contents.
  var beforeStart: [SlurmLook.Output] {
    streams.map {
      var output = $0.output
      output.isOwn = true
      return output
    }
  }

  /// Takes parts that were read. A part is ignored if its request is older than the last part that was taken.
  mutating func take(_ parts: [SlurmFileContents.Part]) {
    for (index, part) in parts.enumerated() where index < streams.count {
      guard part.requested == streams[index].output.position else { continue }
      var bytes = part.bytes[...]
      if part.position != part.requested {
        // The command has emptied the file, or bytes are left out. Then the beginning of the first line is not known.
        streams[index].sink.end()
        if part.position > 0, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
          bytes = bytes[(end + 1)...]
        }
      }
      streams[index].output.position = part.position + Int64(part.bytes.count)
      if index == copiedStream { addToCopy(part) }
      streams[index].sink.take(bytes)
    }
  }

  /// What remains to be read after the end of the command.
  enum Rest: Hashable, Sendable {
    /// Everything was read.
    case nothing
    /// The last parts had bytes, and more bytes are needed.
    case more
    /// Bytes are needed, and the last parts had none.
    case unreadable
  }

  /// Takes parts that were read after the end of the command. A stream is complete when it was read up to the size that
  /// its file had in the first of these parts. So the loop of the caller ends even if another process appends to the
  /// file. If only the tail of a stream is needed, it is read once.
  mutating func takeLast(_ parts: [SlurmFileContents.Part]) -> Rest {
    for (index, part) in parts.enumerated() where index < streams.count {
      streams[index].lastSize = streams[index].lastSize ?? part.size
    }
    let needed = streams.indices.filter { !streams[$0].isComplete }
    let before = needed.map { streams[$0].output.position }
    take(parts)
    if streams.allSatisfy(\.isComplete) { return .nothing }
    return before == needed.map { streams[$0].output.position } ? .unreadable : .more
  }

  /// Adds a part to the copy. If this fails, later parts are not copied.
  private mutating func addToCopy(_ part: SlurmFileContents.Part) {
    guard let file = copy, !part.bytes.isEmpty, let reason = file.add(part) else { return }
    report.log("the output cannot be copied to “\(file.path)”: \(reason)")
    copy = nil
  }

  /// Takes the present contents of files as contents from before the job.
  mutating func skip(_ parts: [SlurmFileContents.Part]) {
    for (index, part) in parts.enumerated() where index < streams.count {
      streams[index].output.position = part.position + Int64(part.bytes.count)
    }
  }

  /// Takes the last lines, which may have no line feed.
  mutating func end() {
    for index in streams.indices { streams[index].sink.end() }
  }

  /// Returns the result of a command with the exit status 0.
  ///
  /// - Parameters:
  ///   - isComplete: Whether all bytes were read.
  ///   - duration: The duration of the command.
  /// - Returns: The result.
  func result(isComplete: Bool, duration: Duration) -> CommandResult {
    let sinks = collected.map { $0.map { streams[$0].sink } }
    return CommandResult(
      output: sinks.first.flatMap { $0?.collected } ?? [],
      errorOutput: sinks.count > 1 ? sinks[1]?.collected ?? [] : [],
      isOutputComplete: isComplete && !sinks.contains { $0?.isCut == true }, duration: duration)
  }
}
