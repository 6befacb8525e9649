// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
package import OperationsCommands

/// The directory of a run. Only its owner has access to its files, because commands and environments contain secrets.
package struct RunDirectory: Hashable, Sendable {
  /// The absolute path of the directory. Its last component is the id of the run.
  package let path: String

  /// Creates a value for a directory, which need not exist.
  ///
  /// - Parameter path: The path of the directory without a slash at its end.
  package init(path: String) { self.path = path }

  /// The id of the run, such as `20260131-235959-k3x9`: its creation in UTC, and random characters. It is the value of
  /// `OPQ_RUN`.
  package var id: String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// The inputs of the run, which do not change.
  package var request: String { "\(path)/request.json" }
  /// The bytes of the jobs, if they were read from standard input.
  package var input: String { "\(path)/input" }
  /// The newest plan.
  package var plan: String { "\(path)/plan.json" }
  /// What has happened in the run, as one JSON object on each line.
  package var journal: String { "\(path)/journal.jsonl" }
  /// The file that the runner locks while it lives.
  package var lock: String { "\(path)/lock" }
  /// The output of a runner without a terminal.
  package var log: String { "\(path)/runner.log" }
  /// The directory of the files of all attempts.
  package var jobs: String { "\(path)/jobs" }

  /// Returns the files of an attempt of a job.
  ///
  /// The name of the files begins with the number of the job. An id can contain characters that a file name cannot
  /// have, and can be too long for one. In this case, only a part of the id follows, and a hash of the id. So two jobs
  /// that have the same number in different plans have different files. The character before the hash is in no other
  /// name.
  ///
  /// - Parameters:
  ///   - number: The number of the job in the plan; the first one is 1.
  ///   - id: The id of the job.
  ///   - attempt: The number of the attempt; the first one is 1.
  /// - Returns: The name of the files without a suffix, such as `1-fetch.1` or `2-align_a_~1b2c3d4e.1`, and the files.
  package func files(
    ofJob number: Int, id: String, attempt: Int
  ) -> (name: String, files: ShimFiles) {
    let bytes = id.utf8.prefix(80).map { Self.isPlain($0) ? $0 : UInt8(ascii: "_") }
    var part = String(decoding: bytes, as: UTF8.self)
    if !bytes.elementsEqual(id.utf8) {
      var hash = ShortHash()
      hash.combine(id.utf8)
      part += "~\(hash.text.prefix(8))"
    }
    let name = "\(number)-\(part).\(attempt)"
    return (name, files(named: name))
  }

  /// Returns whether a byte of an id remains in the names of files.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Returns the files with a name from the journal.
  ///
  /// - Parameter name: The name without a suffix, such as `1-fetch.1`.
  /// - Returns: The files.
  package func files(named name: String) -> ShimFiles { ShimFiles(base: "\(jobs)/\(name)") }
}

extension RunDirectory {
  /// Why the files of the directory must not be read, because another user can change them; `nil` if they can be read.
  var ownershipFailure: RunFailure? {
    var status = cmonitor_file_status()
    let error = cmonitor_read_status(path, true, &status)
    guard error == 0 else { return RunFailure("read the directory of the run", path, error: error) }
    let user = cmonitor_user_id()
    // The superuser reads the runs of all users.
    if user != 0, status.owner != user { return RunFailure("\(path) belongs to another user") }
    if status.permissions & 0o022 != 0 { return RunFailure("other users can write to \(path)") }
    return nil
  }

  /// Why this process must not resume the run, because another user has created it; `nil` if it can. The superuser
  /// reads the runs of other users, but does not execute their commands.
  package var continuationFailure: RunFailure? {
    if let failure = ownershipFailure { return failure }
    var status = cmonitor_file_status()
    let error = cmonitor_read_status(path, true, &status)
    guard error == 0 else { return RunFailure("read the directory of the run", path, error: error) }
    if status.owner == cmonitor_user_id() { return nil }
    return RunFailure(
      "\(path) belongs to user \(status.owner), and only this user can resume the run")
  }
}
