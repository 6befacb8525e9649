// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Reads the output of the scripts of ``SlurmScript``. If an output is not complete, the functions return `nil`, an
/// unclear answer or a failure.
enum SlurmAnswer {
  /// Reads the output of ``SlurmScript/submit(_:batch:resources:files:marker:)``.
  ///
  /// - Parameters:
  ///   - output: The output.
  ///   - marker: The marker of the script.
  /// - Returns: The answer of `sbatch`.
  static func submission(_ output: [UInt8], marker: String) -> SlurmJob.Submission {
    let lines = lines(of: output)
    guard let begin = lines.firstIndex(of: marker),
      let end = lines.lastIndex(where: { $0.hasPrefix("\(marker) ") }), begin < end
    else { return .unclear("the answer of sbatch was lost") }
    let printed = lines[(begin + 1)..<end]
    if lines[end] == "\(marker) \(SlurmExit.revoked)" {
      return .unclear("the submission was revoked")
    }
    // If a signal ends sbatch, the shell's status is 128 plus its number. Errors of sbatch have the statuses 1 and 255.
    if let status = lines[end].split(separator: " ").last.flatMap({ Int($0) }),
      (129...192).contains(status)
    {
      return .unclear("sbatch was ended by a signal")
    }
    if lines[end] == "\(marker) \(SlurmExit.unusableFiles)" {
      return .unusableFiles(printed.first ?? "")
    }
    guard lines[end] == "\(marker) 0" else {
      let words = SlurmWords.error(in: printed.joined(separator: "\n")) ?? "sbatch has failed"
      return SlurmWords.isUnclear(words) ? .unclear(words) : .refused(words)
    }
    // With the option --parsable, the last line is the id, or the id and the cluster. Warnings can be before it.
    let id = printed.last?.split(separator: ";").first.flatMap { Int($0) }
    return id.map { .accepted(id: $0) } ?? .unclear("sbatch has printed no id")
  }

  /// Reads the output of ``SlurmScript/queue(looks:marker:)``.
  ///
  /// - Parameters:
  ///   - output: The output.
  ///   - looks: The requests to read files.
  ///   - marker: The marker of the script.
  /// - Returns: The jobs, or the reason why they are not known; and the contents of the files for each request, or
  ///   `nil` if they are not complete.
  static func queue(
    _ output: [UInt8], looks: [SlurmLook], marker: String
  ) -> (jobs: Result<[SlurmRecord], SlurmCallFailure>, files: [SlurmFileContents]?) {
    let lost = SlurmCallFailure(reason: "the answer of squeue was lost")
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), let status = reader.line(),
      let jobs = reader.lines(before: marker)
    else { return (.failure(lost), nil) }
    let files = reader.contents(for: looks)
    let isComplete = reader.line() == "\(marker) end"
    if status == "\(marker) 0" {
      return (.success(SlurmRecord.all(in: jobs)), isComplete ? files : nil)
    }
    let words = SlurmWords.error(in: jobs) ?? "squeue has failed"
    return (.failure(SlurmCallFailure(reason: words)), isComplete ? files : nil)
  }

  /// Reads the output of ``SlurmScript/look(_:marker:)``.
  static func look(_ output: [UInt8], _ look: SlurmLook, marker: String) -> SlurmFileContents? {
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), reader.line() != nil,
      let contents = reader.contents(for: [look])?.first, reader.line() == "\(marker) end"
    else { return nil }
    return contents
  }

  /// Reads the output of ``SlurmScript/cancel(_:marker:)``.
  ///
  /// - Returns: The results by the comments of the jobs; empty if the output is not complete.
  static func cancellations(
    _ output: [UInt8], marker: String
  ) -> [String: SlurmJob.Cancellation] {
    let lines = lines(of: output).map { $0.split(separator: " ").map { String($0) } }
      .filter { $0.count == 3 && $0[0] == marker }
    guard let end = lines.last, end[1] == "end" else { return [:] }
    let isReceived = end[2] == "0"
    return Dictionary(
      lines.dropLast().map { words -> (String, SlurmJob.Cancellation) in
        (words[1], words[2] == "revoked" ? .revoked(isReceived: isReceived) : .requested)
      }
    ) { first, _ in first }
  }

  /// Reads the output of ``SlurmScript/revoke(_:files:marker:)``.
  static func revocation(_ output: [UInt8], marker: String) -> SlurmJob.Revocation {
    let lines = lines(of: output)
    guard let begin = lines.firstIndex(of: marker), begin + 1 < lines.count else {
      return .unclear("the answer was lost")
    }
    switch lines[begin + 1] {
    case "revoked": return .revoked
    case "started": return .started
    default: return .unclear("the files of the job cannot be used")
    }
  }

  /// Reads the output of ``SlurmScript/showJob(_:marker:)``.
  static func exit(
    _ output: [UInt8], of submission: SlurmSubmission, marker: String
  ) -> SlurmJob.ExitAnswer {
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), let status = reader.line(),
      let text = reader.lines(before: marker)
    else { return .failure("the answer of scontrol was lost") }
    if status == "\(marker) 0" {
      guard text.contains("Comment=\(submission.comment)"), let exit = SlurmExit(scontrol: text)
      else { return .noRecord }
      return .record(exit)
    }
    if text.contains("Invalid job id") { return .noRecord }
    return .failure(SlurmWords.error(in: text) ?? "scontrol has failed")
  }

  /// Returns the lines of an output that are not empty. A carriage return before a line feed does not belong to a line.
  static func lines(of output: [UInt8]) -> [String] {
    output.split(separator: UInt8(ascii: "\n")).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The error of a call of Slurm's commands whose answer is not known.
struct SlurmCallFailure: Error, Hashable {
  let reason: String
}

/// Reads lines and bytes of an output from its beginning.
struct SlurmOutputReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Takes the next line without its line feed; `nil` if there is none.
  mutating func line() -> String? {
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Continues with the first line that begins with a word. A login shell may print lines before it.
  mutating func skip(toLineWith word: String) -> Bool {
    while true {
      let before = rest
      guard let line = line() else { return false }
      if line == word || line.hasPrefix("\(word) ") {
        rest = before
        return true
      }
    }
  }

  /// Takes the lines before the first line that begins with a word and a space; `nil` if there is no such line.
  mutating func lines(beforeLineWith word: String) -> [String]? {
    var lines: [String] = []
    while true {
      let before = rest
      guard let line = line() else { return nil }
      if line.hasPrefix("\(word) ") {
        rest = before
        return lines
      }
      lines.append(line)
    }
  }

  /// Takes the lines before a line, and this line.
  mutating func lines(before last: String) -> String? {
    var lines: [String] = []
    while let line = line() {
      if line == last { return lines.joined(separator: "\n") }
      lines.append(line)
    }
    return nil
  }

  /// Takes a number of bytes, and the line feed after them; `nil` if the rest of the output does not begin with them.
  mutating func bytes(_ count: Int) -> [UInt8]? {
    guard 0..<rest.count ~= count else { return nil }
    let end = rest.startIndex + count
    guard rest[end] == UInt8(ascii: "\n") else { return nil }
    defer { rest = rest[(end + 1)...] }
    return Array(rest[..<end])
  }

  mutating func contents(for looks: [SlurmLook]) -> [SlurmFileContents]? {
    var all: [SlurmFileContents] = []
    for look in looks {
      var contents = SlurmFileContents()
      guard let sign = line(), let status = line() else { return nil }
      contents.isRead = ![sign, status].contains(SlurmScript.unreadable)
      contents.readSign(contents.isRead ? sign : "")
      contents.readStatus(contents.isRead ? status : "")
      for output in look.outputs {
        let numbers = line()?.split(separator: " ").compactMap { Int64($0) } ?? []
        guard numbers.count == 3, numbers[0] >= 0, numbers[1] >= 0,
          numbers[0] <= Int64.max - numbers[1], let bytes = bytes(Int(numbers[1]))
        else { return nil }
        contents.parts.append(
          .init(
            requested: output.position, position: numbers[0], bytes: bytes,
            size: numbers[2] < 0 ? nil : numbers[2]))
      }
      all.append(contents)
    }
    return all
  }
}
