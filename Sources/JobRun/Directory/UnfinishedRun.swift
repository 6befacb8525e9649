// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The directory of a run that is being created. Its name is not the id of a run.
///
/// The process that creates the run has locked the directory, until the run is complete or the process ends.
struct UnfinishedRun {
  private static let prefix = ".new-"
  /// The age from which the directory is deleted if no process has locked it, in nanoseconds. A file system may not
  /// have locks for directories.
  private static let leastAge: Int64 = 3_600_000_000_000

  /// The path of the directory.
  let path: String
  private let created: Int64

  /// Chooses a name for a new directory, which another directory can have.
  ///
  /// - Parameters:
  ///   - runs: The path of the directory of all runs.
  ///   - time: The wall clock, in nanoseconds since 1970.
  init(in runs: String, at time: Int64) {
    path = "\(runs)/\(Self.prefix)\(RunID.make(at: time))"
    created = time
  }

  /// Creates a value for an existing directory; `nil` if its name is another one.
  init?(_ name: String, in runs: String) {
    let id = String(name.dropFirst(Self.prefix.count))
    guard name.hasPrefix(Self.prefix), RunID.isValid(id) else { return nil }
    path = "\(runs)/\(name)"
    created = RunID.time(of: id)
  }

  /// Locks the directory.
  ///
  /// - Returns: The lock; `nil` if another process has locked the directory, or if it cannot be locked.
  func lock() -> Lock? {
    let file = cmonitor_open_to_read(path)
    guard file >= 0 else { return nil }
    let lock = Lock(file)
    return cmonitor_lock(file, false) == cmonitor_error_try_again ? nil : lock
  }

  /// Deletes the directory if the process that has created it has ended.
  ///
  /// - Parameter now: The wall clock, in nanoseconds since 1970.
  func deleteIfAbandoned(at now: Int64) {
    guard now - created > Self.leastAge, let lock = lock() else { return }
    _ = cmonitor_delete_tree(path)
    withExtendedLifetime(lock) {}
  }

  /// The lock of a directory. It ends when no reference to this object is left. A renamed directory stays locked.
  final class Lock: Sendable {
    private let file: Int32

    fileprivate init(_ file: Int32) { self.file = file }

    deinit { RunLock.close(file) }
  }
}
