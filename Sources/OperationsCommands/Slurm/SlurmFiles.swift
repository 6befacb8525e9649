// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The files of one job, in a directory that its node and the caller of Slurm share.
package struct SlurmFiles: Hashable, Sendable {
  /// The absolute path that all files begin with.
  package let base: String

  /// Creates the names of the files. No file is created.
  ///
  /// - Parameter base: The absolute path that all files begin with. Its directory is created before the first
  ///   submission.
  package init(base: String) { self.base = base }

  /// The directory of the files.
  var directory: String {
    base.lastIndex(of: "/").map { String(base[..<$0]) } ?? "."
  }

  /// The file with the messages of Slurm, and with the output of the command unless the output has another destination.
  package var log: String { "\(base).log" }
  /// The file with the error output of the command, if the error output has a destination of its own.
  var errorLog: String { "\(base).err" }
  /// The file with the exit status of the command. It gets this name when it is complete.
  package var status: String { "\(base).status" }
  /// The file that the wrapper changes every 5 seconds while it is alive.
  package var sign: String { "\(base).alive" }
  /// A file whose existence requests the wrapper to end the command. If it is not empty, the grace period has ended. It
  /// is created only after a wrapper has started.
  package var stop: String { "\(base).stop" }
  /// The file in which the wrapper notes why it cannot start the command.
  var obstacle: String { "\(base).obstacle" }

  /// The time between two changes of ``sign``.
  static let signInterval: Int64 = 5

  /// Returns the time from the start of the wrapper to the last change of ``sign``, for example 15 seconds for “3
  /// 4711”; `nil` if the content is not complete.
  static func age(ofSign content: String) -> Duration? {
    // The file may be damaged.
    content.split(separator: " ").first.flatMap { Int32($0) }
      .map { .seconds(Int64($0) * signInterval) }
  }

  /// The symbolic link that decides whether a submission may reach Slurm. Its target is `submitted` or `revoked`. The
  /// link is created once, so a submission has only one of the two targets.
  func gate(of submission: SlurmSubmission) -> String { "\(base).\(submission.comment)" }
  /// The file that permits one start of the command. It exists before ``gate(of:)``.
  ///
  /// The wrapper renames it to a claim, whose name ends with the id of the job and the number of its restarts. A
  /// revocation renames it too. A file can be renamed once, so a job that finds no permit does not execute the command.
  /// This also holds after the files were deleted.
  func permit(of submission: SlurmSubmission) -> String { "\(gate(of: submission)).permit" }
  /// The name of the permit after its revocation.
  func revokedPermit(of submission: SlurmSubmission) -> String {
    "\(gate(of: submission)).revoked"
  }
}

/// The exit status of a job in Slurm's own record.
struct SlurmExit: Hashable, Sendable {
  /// The exit status of a wrapper whose start was prevented, and of one that cannot use its files.
  static let revoked: Int32 = 75
  static let unusableFiles: Int32 = 74

  let status: Int32
  let signal: Int32

  /// Whether the node could not use the files. Slurm reports the number 53 if it cannot open the output file.
  var isAboutFiles: Bool { status == Self.unusableFiles || signal == 53 }

  /// Reads the output of `scontrol -o show job`, for example `ExitCode=1:0`; `nil` if it contains no exit status.
  init?(scontrol output: String) {
    guard let range = output.firstRange(of: "ExitCode=") else { return nil }
    let numbers = output[range.upperBound...].prefix { !$0.isWhitespace }.split(separator: ":")
    guard numbers.count == 2, let status = Int32(numbers[0]), let signal = Int32(numbers[1]) else {
      return nil
    }
    self.status = status
    self.signal = signal
  }
}

/// What the files of a job contain at one moment.
struct SlurmFileContents: Hashable, Sendable {
  /// How the command has ended, according to the wrapper.
  enum Status: Hashable, Sendable {
    case exited(Int32)
    /// The command cannot be started on the node.
    case notStarted(Obstacle)
  }

  /// What cannot be used on the node, as the wrapper writes it.
  enum Obstacle: String, Hashable, Sendable {
    /// The working directory.
    case directory
    /// The file of the input, of the output, and of the error output.
    case input, output, error
    /// The program.
    case program
  }

  /// A part of an output file.
  struct Part: Hashable, Sendable {
    /// The requested position.
    let requested: Int64
    /// The position of the first byte. It differs if the file is shorter now, or if only its last part is read.
    let position: Int64
    var bytes: [UInt8]
    /// The size of the file at this moment; 0 for a file that is not a regular one; `nil` if it cannot be read.
    var size: Int64?
  }

  /// Whether the files of the wrapper were read, or do not exist. If `false`, only ``parts`` is valid.
  var isRead = true
  /// The content of the wrapper's file; `nil` if the wrapper has not started.
  var sign: String?
  var status: Status?
  /// The duration of the command in whole seconds; `nil` if it has not ended.
  var duration: Int64?
  /// The requested parts of the output files, in the order of the requests.
  var parts: [Part] = []

  init() {}

  /// Reads the content of the status file, which is the exit status and the duration, for example `0 12`.
  mutating func readStatus(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let first = words.first else { return }
    if let obstacle = Obstacle(rawValue: String(first)) {
      status = .notStarted(obstacle)
    } else if let number = UInt8(first) {
      status = .exited(Int32(number))
    }
    if words.count > 1 { duration = Int64(words[1]) }
  }

  mutating func readSign(_ text: String) {
    let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if !text.isEmpty { sign = text }
  }
}

/// A request to read the files of a job.
struct SlurmLook: Hashable, Sendable {
  /// An output file, and the position from which it is read.
  struct Output: Hashable, Sendable {
    let path: String
    var position: Int64
    /// Whether only the last part of a long file is read.
    var isTail: Bool
    /// Whether the file belongs to the job alone. Other files are read only when the wrapper has started.
    var isOwn: Bool
  }

  /// The number of bytes that all looks of one call read together, if there are not very many files.
  static let budget: Int64 = 1 << 23
  /// The smallest limit for the number of bytes that one look reads from a file.
  static let fewestBytes: Int64 = 1 << 12
  /// The maximum number of bytes that are read from a file with ``Output/isTail``.
  static let mostTailBytes: Int64 = 1 << 14

  let files: SlurmFiles
  var outputs: [Output]

  /// Returns the maximum number of bytes that are read from each of several files in one call.
  static func limit(fileCount: Int) -> Int64 {
    max(budget / Int64(max(1, fileCount)), fewestBytes)
  }

  /// Returns the part of an output file that is read, for the size of the file and a limit of bytes.
  static func part(
    of output: Output, size: Int64, limit: Int64
  ) -> (position: Int64, count: Int64) {
    // If the file is shorter than the position, the command has emptied it, and it is read from 0.
    var position = size < output.position ? 0 : output.position
    if output.isTail { position = max(position, size - min(mostTailBytes, limit)) }
    return (position, min(max(0, size - position), limit))
  }

  /// Reads the files of this machine.
  func read() -> SlurmFileContents {
    var contents = SlurmFileContents()
    let sign = Self.text(of: files.sign)
    // The status is read before the outputs: if it exists, they are complete.
    let status = Self.text(of: files.status)
    contents.isRead = sign != nil && status != nil
    contents.readSign(sign ?? "")
    contents.readStatus(status ?? "")
    let limit = Self.limit(fileCount: outputs.count)
    contents.parts = outputs.map { output in
      output.isOwn || contents.sign != nil
        ? Self.part(of: output, limit: limit) : Self.nothing(of: output)
    }
    return contents
  }

  private static func part(of output: Output, limit: Int64) -> SlurmFileContents.Part {
    let file = csystem_open_input(output.path)
    guard file >= 0 else { return nothing(of: output) }
    defer { csystem_close(file) }
    let size = max(0, csystem_file_size(file))
    let (position, count) = part(of: output, size: size, limit: limit)
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let read = csystem_read_file_at(file, &bytes, bytes.count, position)
    return .init(
      requested: output.position, position: position, bytes: Array(bytes.prefix(read)), size: size)
  }

  /// The part of a file that cannot be read.
  private static func nothing(of output: Output) -> SlurmFileContents.Part {
    .init(requested: output.position, position: output.position, bytes: [], size: nil)
  }

  /// Returns the beginning of a file; an empty text if the file does not exist, and `nil` if it cannot be read.
  private static func text(of path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = csystem_read_file(path, &bytes, bytes.count)
    if count < 0 { return csystem_is_not_found(Int32(-count)) ? "" : nil }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
