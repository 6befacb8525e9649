// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobFiles

/// The creation of the directory of a run, and what it has created so far.
///
/// The files are written to a directory with another name, which gets the id as its name at the end. Therefore another
/// process sees the complete directory or none.
struct RunCreation {
  private let place: RunPlace
  private let disk: RunDisk
  /// The directories around the run that were created, from the outermost one to the innermost one.
  private var parents: [String] = []
  /// The file `.gitignore`, if it was created.
  private var ignoreFile: String?
  /// The directory of the run, under its present name.
  private var run: String?
  /// The lock of the directory, so that no other process deletes it.
  private var lock: UnfinishedRun.Lock?

  init(_ place: RunPlace, _ disk: RunDisk) {
    self.place = place
    self.disk = disk
  }

  /// Creates the directory of a run.
  mutating func create(
    request: RunRequest, input: [UInt8]?, plan: JobPlan
  ) throws(RunFailure) -> RunDirectory {
    let runs = try createPlace()
    let unfinished = try createUnfinished(in: runs, at: request.created)
    let directory = RunDirectory(path: unfinished)
    try disk.create(directory.request, request.json)
    if let input { try disk.create(directory.input, input) }
    try disk.create(directory.plan, Array(plan.jsonLine.utf8))
    try disk.create(directory.journal, [])
    let error = disk.createDirectory(directory.jobs)
    guard error == 0 else { throw failure(directory.jobs, error) }
    try disk.syncDirectory(unfinished)
    let path = try giveID(to: unfinished, in: runs, at: request.created)
    try disk.syncDirectory(runs)
    for parent in parents { try disk.syncDirectory(RunDisk.directory(of: parent)) }
    return RunDirectory(path: path)
  }

  /// Deletes everything that was created.
  func undo() {
    if let run { _ = cmonitor_delete_tree(run) }
    for parent in parents.reversed() {
      if parent == place.ignored, let ignoreFile { cmonitor_delete(ignoreFile) }
      // Another process may have created a run in this directory.
      guard cmonitor_delete_directory(parent) == 0 else { return }
    }
    if let ignoreFile { cmonitor_delete(ignoreFile) }
  }

  private func failure(_ path: String, _ error: Int32) -> RunFailure {
    RunFailure("create the directory", path, error: error, advice: Self.advice)
  }

  private static let advice = "; --state names another place for the files of a run"

  /// Creates the directories around the run that do not exist. Returns the path of the innermost one, without links.
  private mutating func createPlace() throws(RunFailure) -> String {
    // If another process undoes its creation at the same time, a directory can disappear.
    for _ in 0..<3 {
      let path = place.runs
      for slash in path.utf8.indices.dropFirst() where path.utf8[slash] == UInt8(ascii: "/") {
        try createParent(String(path[..<slash]))
      }
      try createParent(place.runs)
      if let path = place.resolved { return path }
    }
    throw failure(place.runs, cmonitor_error_no_such_file)
  }

  private mutating func createParent(_ path: String) throws(RunFailure) {
    if !RunDisk.isDirectory(path) {
      let error = disk.createDirectory(path)
      if error == 0 {
        parents.append(path)
      } else if !RunDisk.isDirectory(path) {
        throw failure(path, error)
      }
    }
    guard path == place.ignored else { return }
    let file = "\(path)/.gitignore"
    var status = cmonitor_file_status()
    guard cmonitor_read_status(file, false, &status) == cmonitor_error_no_such_file else { return }
    do throws(RunFailure) {
      try disk.create(file, Array("*\n".utf8))
      ignoreFile = file
    } catch {
      // Another process can have created the file at the same time.
      guard cmonitor_read_status(file, false, &status) == 0 else { throw error }
    }
  }

  /// Creates a directory whose name is not the id of a run.
  private mutating func createUnfinished(
    in runs: String, at time: Int64
  ) throws(RunFailure) -> String {
    var error = 0 as Int32
    for _ in 0..<Self.attempts {
      let unfinished = UnfinishedRun(in: runs, at: time)
      let path = unfinished.path
      error = disk.createDirectory(path)
      if error == 0 {
        run = path
        lock = unfinished.lock()
        // Some file systems give all files the same permissions.
        if let failure = RunDirectory(path: path).ownershipFailure {
          throw RunFailure(sentence: failure.description + Self.advice)
        }
        return path
      }
      guard error == cmonitor_error_file_exists else { break }
    }
    throw failure(runs, error)
  }

  /// Renames the directory of the run, so that its name is a new id. Returns its path.
  private mutating func giveID(
    to unfinished: String, in runs: String, at time: Int64
  ) throws(RunFailure) -> String {
    var error = 0 as Int32
    for _ in 0..<Self.attempts {
      let path = "\(runs)/\(RunID.make(at: time))"
      // An existing directory of a run is not empty, so it is not replaced. An empty one is no run.
      error = cmonitor_rename(unfinished, path)
      if error == 0 {
        run = path
        return path
      }
      guard error == cmonitor_error_file_exists || error == cmonitor_error_directory_not_empty
      else { break }
    }
    throw failure(runs, error)
  }

  /// The maximum number of ids that are tried. There are 1.7 million ids in a second.
  private static let attempts = 100
}
