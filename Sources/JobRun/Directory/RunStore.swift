// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
package import JobFiles
import MonitorProtocol

/// Creates, finds and deletes the directories of runs.
package enum RunStore {
  /// Creates the directory of a new run, and everything that it needs. It is on the disk when the function returns.
  ///
  /// - Parameters:
  ///   - place: The place of the directory. It is created if it does not exist.
  ///   - request: The inputs of the run. The id of the run contains the time ``RunRequest/created``.
  ///   - input: The bytes of the jobs, if they were read from standard input.
  ///   - plan: The plan.
  /// - Returns: The directory.
  /// - Throws: ``RunFailure``. Everything that the function has created was deleted.
  package static func create(
    in place: RunPlace, request: RunRequest, input: [UInt8]?, plan: JobPlan
  ) throws(RunFailure) -> RunDirectory {
    try create(in: place, request: request, input: input, plan: plan, disk: .system)
  }

  static func create(
    in place: RunPlace, request: RunRequest, input: [UInt8]?, plan: JobPlan, disk: RunDisk
  ) throws(RunFailure) -> RunDirectory {
    var creation = RunCreation(place, disk)
    do throws(RunFailure) {
      return try creation.create(request: request, input: input, plan: plan)
    } catch {
      creation.undo()
      throw error
    }
  }

  /// Replaces the plan of a run, in one step.
  ///
  /// - Parameters:
  ///   - plan: The newest plan.
  ///   - directory: The directory of the run.
  /// - Throws: ``RunFailure``. The earlier plan remains.
  package static func write(_ plan: JobPlan, to directory: RunDirectory) throws(RunFailure) {
    try RunDisk.system.replace(directory.plan, Array(plan.jsonLine.utf8))
  }

  /// Returns the bytes of jobs that were read from standard input.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: The bytes.
  /// - Throws: ``RunFailure`` if they cannot be read.
  package static func input(of directory: RunDirectory) throws(RunFailure) -> [UInt8] {
    try RunDisk.contents(directory.input)
  }

  /// Returns all runs. The newest one is last. A directory without the files of a run is also a run, which is damaged.
  ///
  /// - Parameter place: The place of the runs.
  /// - Returns: The directories; none if the place does not exist.
  /// - Throws: ``RunFailure`` if the place cannot be read.
  package static func all(in place: RunPlace) throws(RunFailure) -> [RunDirectory] {
    var status = cmonitor_file_status()
    let error = cmonitor_read_status(place.runs, true, &status)
    if error == cmonitor_error_no_such_file { return [] }
    guard error == 0 else { throw RunFailure("read the directory", place.runs, error: error) }
    guard status.is_directory else { throw RunFailure("\(place.runs) is not a directory") }
    let path = place.resolved ?? place.runs
    guard let directory = cmonitor_open_directory(path) else {
      throw RunFailure("the directory \(path) cannot be read")
    }
    defer { cmonitor_close_directory(directory) }
    var runs: [RunDirectory] = []
    while let name = cmonitor_next_name(directory) {
      let id = String(cString: name)
      guard RunID.isValid(id), RunDisk.isDirectory("\(path)/\(id)") else { continue }
      runs.append(RunDirectory(path: "\(path)/\(id)"))
    }
    return sorted(runs)
  }

  /// Sorts runs by their times. The ids of runs contain only seconds, so the requests of runs of the same second are
  /// read.
  private static func sorted(_ runs: [RunDirectory]) -> [RunDirectory] {
    let seconds = Dictionary(grouping: runs) { $0.id.prefix(15) }
    return seconds.sorted { $0.key < $1.key }.flatMap { _, runs in
      guard runs.count > 1 else { return runs }
      let times = runs.map { run in
        (run: run, time: (try? RunRequest.read(run))?.created ?? RunID.time(of: run.id))
      }
      return times.sorted { ($0.time, $0.run.id) < ($1.time, $1.run.id) }.map(\.run)
    }
  }

  /// Finds a run.
  ///
  /// - Parameters:
  ///   - id: The id of the run, or its beginning if no other id begins with it; `nil` for the newest run.
  ///   - place: The place of the runs.
  /// - Returns: The directory of the run.
  /// - Throws: ``RunFailure`` if there is no such run, if several ids have the beginning, or if the place cannot be
  ///   read.
  package static func find(_ id: String?, in place: RunPlace) throws(RunFailure) -> RunDirectory {
    let runs = try all(in: place)
    guard let newest = runs.last else {
      throw .missingRun("there are no runs in \(place.runs)")
    }
    guard let id, !id.isEmpty else { return newest }
    let matching = runs.filter { $0.id.hasPrefix(id) }
    if let run = matching.last, matching.count == 1 { return run }
    let shown = matching.isEmpty ? nearest(to: id, in: runs) : matching.map(\.id)
    let names = shown.suffix(5).joined(separator: ", ")
    if !matching.isEmpty {
      throw RunFailure(
        "the ids of \(matching.count) runs begin with \"\(id)\"; the newest are \(names)")
    }
    let advice = names.isEmpty ? "; the newest is \(newest.id)" : "; did you mean \(names)?"
    throw .missingRun("there is no run \"\(id)\" in \(place.runs)\(advice)")
  }

  /// Returns the ids that are most similar to a word; none if no id is similar.
  private static func nearest(to word: String, in runs: [RunDirectory]) -> [String] {
    let distances = runs.suffix(1_000).map { run in
      // A word that is shorter than an id was probably meant as its beginning.
      let beginning = String(run.id.prefix(max(word.count, 4)))
      return (id: run.id, distance: NearestName.distance(from: word, to: beginning))
    }
    guard let least = distances.map(\.distance).min(), least <= 2, least * 2 < word.count else {
      return []
    }
    return distances.filter { $0.distance == least }.map(\.id)
  }

  /// Deletes a run with all its files.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - onlyIfNew: Whether nothing happens if a runner has begun the run.
  /// - Throws: ``RunFailure`` if a runner or a command may be alive, or if a file cannot be deleted.
  package static func delete(
    _ directory: RunDirectory, onlyIfNew: Bool = false
  ) throws(RunFailure) {
    if let process = RunLock.holder(of: directory) {
      let failure = RunFailure(runner: process, of: directory)
      throw RunFailure(sentence: "\(failure), so it cannot be deleted")
    }
    // No runner can begin from here on. A full disk does not prevent the lock of an existing file. On a read-only disk,
    // the lock fails, and nothing could be deleted.
    let lock = try RunLock.acquire(directory)
    defer { lock.release() }
    if onlyIfNew, try RunHistory.read(directory).lastBoot != nil { return }
    // Without a runner, no further command starts.
    guard !directory.mayHaveLivingCommand else {
      throw RunFailure(
        "a command of the run \(directory.id) is still running, so the run cannot be deleted")
    }
    let parent = RunDisk.directory(of: directory.path)
    // If the process ends early, the rest is no run, and the next call deletes it.
    let hidden = "\(parent)/\(deletedPrefix)\(directory.id)"
    let isRenamed = cmonitor_rename(directory.path, hidden) == 0
    let error = cmonitor_delete_tree(isRenamed ? hidden : directory.path)
    guard error == 0 else { throw RunFailure("delete the run", directory.path, error: error) }
  }

  private static let deletedPrefix = ".deleted-"

  /// Deletes what processes have left that were killed while they deleted or created a run.
  ///
  /// - Parameters:
  ///   - place: The place of the runs.
  ///   - now: The wall clock, in nanoseconds since 1970.
  package static func deleteRemains(
    in place: RunPlace, at now: Int64 = csystem_wall_nanoseconds()
  ) {
    let path = place.resolved ?? place.runs
    guard let directory = cmonitor_open_directory(path) else { return }
    defer { cmonitor_close_directory(directory) }
    while let name = cmonitor_next_name(directory) {
      let name = String(cString: name)
      if name.hasPrefix(deletedPrefix) {
        _ = cmonitor_delete_tree("\(path)/\(name)")
      } else {
        UnfinishedRun(name, in: path)?.deleteIfAbandoned(at: now)
      }
    }
  }
}
