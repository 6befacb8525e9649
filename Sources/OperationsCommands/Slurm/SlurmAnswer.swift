// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What the scripts of ``SlurmScript`` have printed, as values. All functions return `nil` or an unclear answer if the output
/// is not complete.
enum SlurmAnswer {
  /// Reads the output of ``SlurmScript/submit(_:batch:resources:files:marker:)``.
  ///
  /// - Parameters:
  ///   - output: The output.
  ///   - marker: The marker of the script.
  /// - Returns: The answer of `sbatch`.
  static func submission(_ output: [UInt8], marker: String) -> SlurmJob.Submission {
    let text = String(decoding: output, as: UTF8.self)
    let lines = text.split(separator: "\n").map { String($0) }
    guard let begin = lines.firstIndex(of: marker),
      let end = lines.lastIndex(where: { $0.hasPrefix("\(marker) ") }), begin < end
    else { return .unclear("the answer of sbatch was lost") }
    let printed = lines[(begin + 1)..<end]
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
  /// - Returns: The jobs, or the reason why they are not known; and the contents of the files for each request, or `nil`
  ///   if they are not complete.
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

  /// Reads the output of ``SlurmScript/cancel(_:files:marker:)``: the job after the request.
  static func cancellation(_ output: [UInt8], marker: String) -> [SlurmRecord] {
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), reader.line() != nil,
      let lines = reader.lines(before: "\(marker) end")
    else { return [] }
    return SlurmRecord.all(in: lines)
  }

  /// Reads the output of ``SlurmScript/revoke(_:files:)``.
  static func revocation(_ output: [UInt8]) -> Bool? {
    let words = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    return words.last.map { $0 == "revoked" }
  }
}

/// Why a call of Slurm's commands says nothing.
struct SlurmCallFailure: Error, Hashable {
  let reason: String
}

/// Reads lines and bytes of an output from its beginning.
private struct SlurmOutputReader {
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

  /// Takes the lines before a line, and this line.
  mutating func lines(before last: String) -> String? {
    var lines: [String] = []
    while let line = line() {
      if line == last { return lines.joined(separator: "\n") }
      lines.append(line)
    }
    return nil
  }

  mutating func contents(for looks: [SlurmLook]) -> [SlurmFileContents]? {
    var all: [SlurmFileContents] = []
    for look in looks {
      var contents = SlurmFileContents()
      guard let sign = line(), let status = line() else { return nil }
      contents.readSign(sign)
      contents.readStatus(status)
      for output in look.outputs {
        let numbers = line()?.split(separator: " ").compactMap { Int64($0) } ?? []
        guard numbers.count == 2, numbers[1] < rest.count else { return nil }
        let end = rest.startIndex + Int(numbers[1])
        guard rest[end] == UInt8(ascii: "\n") else { return nil }
        contents.parts.append(
          .init(requested: output.position, position: numbers[0], bytes: Array(rest[..<end])))
        rest = rest[(end + 1)...]
      }
      all.append(contents)
    }
    return all
  }
}
