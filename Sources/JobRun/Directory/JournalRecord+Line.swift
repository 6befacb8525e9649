// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension JournalRecord {
  /// Writes the record as one line.
  func write(to text: inout JSONText) {
    text.object { text in
      text.member("attempt", attempt)
      text.member("boot", boot)
      text.member("byRun", byRun)
      text.member("comment", comment)
      text.member("definition", definition)
      text.member("duration", duration)
      text.member("event", event.rawValue)
      text.member("files", files)
      text.member("host", host)
      text.member("id", id)
      text.member("job", job)
      text.member("jobs", jobs)
      text.member("lastLine", lastLine)
      text.member("name", name)
      text.member("origin", origin)
      text.member("process", process)
      text.member("reason", reason)
      text.member("state", state?.rawValue)
      text.member("status", status)
      text.member("submitted", submitted)
      text.member("time", time)
      text.member("unneeded", unneeded)
      text.member("version", version)
      text.member("waits", waits)
    }
    text.endLine()
  }

  /// The record as a line of the journal, which ends with a line break.
  package var line: String {
    var text = JSONText()
    write(to: &text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  /// Reads a line of a journal, with or without its line break. Unknown keys are ignored.
  ///
  /// - Parameter line: The bytes of the line.
  /// - Throws: ``JSONFault`` if the line is not a complete record.
  package init(line: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
    var scanner = JSONScanner(line)
    var record = JournalRecord(.finish, time: .min)
    var event: Event?
    try scanner.readObject { scanner, key throws(JSONFault) in
      if key == "event" {
        event = Event(rawValue: try scanner.readString())
      } else {
        try record.read(key, &scanner)
      }
    }
    try scanner.end()
    guard let event else { throw JSONFault() }
    record.event = event
    guard record.isComplete else { throw JSONFault() }
    self = record
  }

  private mutating func read(_ key: String, _ scanner: inout JSONScanner) throws(JSONFault) {
    switch key {
    case "job": job = try scanner.readString()
    case "time": time = try scanner.readInteger()
    case "attempt": attempt = try scanner.readInteger()
    case "definition": definition = try scanner.readString()
    case "files": files = try scanner.readString()
    case "state":
      guard let state = JobOutcome.State(rawValue: try scanner.readString()) else {
        throw JSONFault()
      }
      self.state = state
    case "status": status = try scanner.readInteger()
    case "duration": duration = try scanner.readInteger()
    case "lastLine": lastLine = try scanner.readString()
    case "reason": reason = try scanner.readString()
    case "origin": origin = try scanner.readString()
    case "comment": comment = try scanner.readString()
    case "name": name = try scanner.readString()
    case "id": id = try scanner.readInteger()
    case "submitted": submitted = try scanner.readInteger()
    case "boot": boot = try scanner.readString()
    case "byRun": byRun = try scanner.readBoolean()
    case "host": host = try scanner.readString()
    case "jobs": jobs = try scanner.readStrings()
    case "process": process = try scanner.readInteger()
    case "unneeded": unneeded = try scanner.readBoolean()
    case "version": version = try scanner.readInteger()
    case "waits": waits = try scanner.readBoolean()
    default: try scanner.skipValue()
    }
  }

  /// Whether the record has everything that its event needs.
  private var isComplete: Bool {
    guard time != .min else { return false }
    switch event {
    case .runner: return process != nil && boot != nil
    case .start:
      // The name becomes a part of a path.
      guard let files, !files.isEmpty, !files.utf8.contains(UInt8(ascii: "/")) else { return false }
      // A submission is found by its comment and its name.
      guard (comment == nil) == (name == nil) else { return false }
      return job != nil && attempt.map { $0 > 0 } ?? false
    case .submitted: return job != nil && comment != nil
    case .attempt: return job != nil && attempt.map { $0 > 0 } ?? false
    case .end: return job != nil && state != nil && attempt.map { $0 >= 0 } ?? true
    case .retry: return jobs != nil
    case .finish: return true
    }
  }
}
