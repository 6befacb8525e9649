// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import OperationsCommands

extension RunDirectory {
  /// The time within which the first runner of a new run begins.
  package static let startTime = Duration.seconds(60)

  /// Whether the first runner of the run may be about to begin: the run is new, and its journal has no record. Check
  /// the lock before.
  ///
  /// - Parameter now: The wall clock, in nanoseconds since 1970.
  /// - Returns: Whether no runner has begun, and the run was created within ``startTime``.
  package func isStarting(at now: Int64 = csystem_wall_nanoseconds()) -> Bool {
    // The difference is negative if the clock was set back.
    let age = Duration.nanoseconds((now - RunID.time(of: id)).magnitude)
    guard age < Self.startTime else { return false }
    var status = cmonitor_file_status()
    return cmonitor_read_status(journal, true, &status) == 0 && status.size == 0
  }

  /// Whether a command of the run may be alive. Commands continue when their runner has ended. It is `true` also if the
  /// system does not tell.
  package var mayHaveLivingCommand: Bool {
    if mayHaveSubmittedCommand { return true }
    var status = cmonitor_file_status()
    let error = cmonitor_read_status(jobs, true, &status)
    if error == cmonitor_error_no_such_file || error == cmonitor_error_not_a_directory {
      return false
    }
    guard error == 0, status.is_directory else { return error != 0 }
    guard let names = cmonitor_open_directory(jobs) else { return true }
    defer { cmonitor_close_directory(names) }
    let suffix = ".shim"
    while let name = cmonitor_next_name(names) {
      let name = String(cString: name)
      guard name.hasSuffix(suffix) else { continue }
      if files(named: String(name.dropLast(suffix.count))).mayBeAlive { return true }
    }
    return false
  }

  /// Whether a command was submitted to a cluster, and its end is not known; `false` if the journal is damaged.
  private var mayHaveSubmittedCommand: Bool {
    // The journal can be long, and is not needed for a run without a cluster.
    guard (try? RunRequest.read(self))?.cluster != nil else { return false }
    guard let history = try? RunHistory.read(self) else { return false }
    return history.jobs.values.contains { job in
      guard let start = job.openStart, start.submission != nil else { return false }
      var status = cmonitor_file_status()
      return cmonitor_read_status(files(named: start.files).status, true, &status) != 0
    }
  }
}
