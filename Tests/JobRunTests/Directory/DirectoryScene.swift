// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A place for the runs of one test.
struct DirectoryScene {
  let directory: TemporaryDirectory
  /// The place `runs` in the directory, which does not exist at first.
  let place: RunPlace

  init() throws {
    directory = try TemporaryDirectory()
    place = RunPlace(state: directory.path)
  }

  /// Returns a plan of jobs, which are lines of a job file below the key `jobs`.
  static func plan(_ jobs: String = "  one: {run: 'true'}", head: String = "") throws -> JobPlan {
    try JobPlan(
      file: Array("\(head)\njobs:\n\(jobs)\n".utf8), name: "jobs.yaml", processorCount: 4)
  }

  /// Returns the inputs of a run.
  ///
  /// - Parameter created: The time of the creation, in nanoseconds since 1970.
  /// - Returns: The inputs.
  func request(created: Int64 = 1_700_000_000_000_000_000) -> RunRequest {
    RunRequest(
      file: directory.file("jobs.yaml"), title: "jobs.yaml", directory: directory.path,
      created: created)
  }

  /// Creates a run.
  func run(
    created: Int64 = 1_700_000_000_000_000_000, plan: JobPlan? = nil, input: [UInt8]? = nil,
    disk: RunDisk = .system
  ) throws -> RunDirectory {
    try RunStore.create(
      in: place, request: request(created: created), input: input,
      plan: try plan ?? Self.plan(), disk: disk)
  }

  /// Creates a run whose journal contains a text.
  func run(journal: String) throws -> RunDirectory {
    let run = try run()
    Self.write(journal, to: run.journal)
    return run
  }

  /// Creates a run whose journal contains records.
  func run(_ records: [JournalRecord]) throws -> RunDirectory {
    try run(journal: records.map(\.line).joined())
  }

  /// Replaces the content of a file.
  static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else {
      Issue.record("\(path) cannot be written")
      return
    }
    let bytes = Array(text.utf8)
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
  }

  /// Locks a file, which is created if it does not exist, as a shim or a runner does. Returns the descriptor for
  /// ``unlock(_:)``.
  static func lock(_ path: String) -> Int32 {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0, "\(path)")
    return file
  }

  /// Ends a lock and closes its file. Another test may be starting a process, which then has a copy of the open file. The
  /// copy does not keep the lock.
  static func unlock(_ file: Int32) {
    #expect(flock(file, LOCK_UN) == 0)
    close(file)
  }

  /// Returns whether a file is locked.
  static func isLocked(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    return file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0
  }

  /// Returns the permissions of a file, such as `0o600`; `nil` if it does not exist.
  static func permissions(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  /// Sets the maximum size of a file that this process writes. Returns the earlier limit.
  @discardableResult
  static func limitFileSizes(_ size: rlim_t) -> rlim_t {
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    var limit = rlimit()
    #expect(getrlimit(resource, &limit) == 0)
    let earlier = limit.rlim_cur
    limit.rlim_cur = size
    #expect(setrlimit(resource, &limit) == 0)
    return earlier
  }

  /// Returns the names of the files in a directory, in ascending order.
  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }
}

extension RunDirectory {
  /// Returns the records of the journal in their order. Lines that are damaged or not complete are ignored.
  func records() throws -> [JournalRecord] {
    var records: [JournalRecord] = []
    var tail = JournalTail(self)
    try tail.read { records.append($0) }
    return records
  }
}

/// A disk on which one call fails.
final class FaultyDisk: Sendable {
  /// A kind of call.
  enum Call: CaseIterable {
    case createDirectory, write, sync
  }

  private let counts = Monitored<[Call: Int]>([:])

  /// Returns the number of calls of a kind.
  func count(_ call: Call) -> Int { counts.value[call] ?? 0 }

  /// Returns a disk on which a call fails with an error.
  ///
  /// - Parameters:
  ///   - call: The kind of the call; `nil` if none fails.
  ///   - number: The number of the call of this kind. The first one is 1. Later calls fail too.
  ///   - error: The error number.
  /// - Returns: The disk.
  func disk(failing call: Call? = nil, at number: Int = 1, with error: Int32 = ENOSPC) -> RunDisk {
    let system = RunDisk.system
    let check: @Sendable (Call) -> Int32 = { kind in
      let count = self.counts.change { counts in
        counts[kind, default: 0] += 1
        return counts[kind] ?? 0
      }
      return kind == call && count >= number ? error : 0
    }
    return RunDisk(
      createDirectory: { path in
        let error = check(.createDirectory)
        return error == 0 ? system.createDirectory(path) : error
      },
      write: { file, bytes, size in
        let error = check(.write)
        return error == 0 ? system.write(file, bytes, size) : error
      },
      sync: { file in
        let error = check(.sync)
        return error == 0 ? system.sync(file) : error
      })
  }
}

extension RunJournal {
  /// Appends a record, and waits until it and all earlier records are on the disk.
  ///
  /// - Throws: `RunFailure` if the journal cannot be written. After a failure, all further calls fail at once.
  func appendAndSync(_ record: JournalRecord) async throws(RunFailure) {
    let failure = await withCheckedContinuation { append(record, resuming: $0) }
    if let failure { throw failure }
  }
}
