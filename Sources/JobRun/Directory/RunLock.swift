// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import OperationsCore

/// The lock of a run: at most one process executes the jobs of a run.
///
/// The lock remains until ``release()`` is called, until no reference to this object is left, or until the process
/// ends, however it ends. Processes that this process starts do not have the lock.
package final class RunLock: Sendable {
  /// The open file; -1 if the lock was released.
  private let file: Locked<Int32>

  private init(_ file: Int32) { self.file = Locked(file) }

  deinit { release() }

  /// Ends the lock. A second call does nothing.
  package func release() {
    let file = file.withLock { file in
      defer { file = -1 }
      return file
    }
    if file >= 0 { Self.close(file) }
  }

  /// Ends the lock of an open file, if there is one, and closes the file. A process that is being started has copies of all open files until it executes
  /// its program, so closing alone could end the lock later.
  static func close(_ file: Int32) {
    cmonitor_unlock(file)
    cmonitor_close(file)
  }

  /// Takes the lock of a run.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: The lock.
  /// - Throws: ``RunFailure`` if another process has the lock, or if it cannot be taken.
  package static func take(_ directory: RunDirectory) throws(RunFailure) -> RunLock {
    let file = try open(directory)
    var error = cmonitor_set_size(file, 0)
    if error == 0 {
      let text = Array("\(csystem_process_id())\n".utf8)
      error = cmonitor_write_all_or_none(file, text, text.count, 0)
    }
    guard error == 0 else {
      close(file)
      throw RunFailure("write the file", directory.lock, error: error)
    }
    return RunLock(file)
  }

  /// Takes the lock without writing the process id to the file. A full disk does not prevent this if the file exists.
  static func acquire(_ directory: RunDirectory) throws(RunFailure) -> RunLock {
    let file = try open(directory)
    // If the size cannot be changed, the file keeps the id of an earlier runner.
    cmonitor_set_size(file, 0)
    return RunLock(file)
  }

  /// Opens and locks the file of a lock.
  private static func open(_ directory: RunDirectory) throws(RunFailure) -> Int32 {
    let file = cmonitor_open_private_file(directory.lock)
    guard file >= 0 else { throw RunFailure("lock the run", directory.path, error: -file) }
    do throws(RunFailure) {
      try lock(file, of: directory)
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// The time in which a moment must come in which no process checks the lock.
  private static let patience = Duration.seconds(10)

  private static func lock(_ file: Int32, of directory: RunDirectory) throws(RunFailure) {
    // A process that only checks the lock shares it for a moment.
    var error = cmonitor_lock(file, false)
    let deadline = ContinuousClock.now + patience
    while error == cmonitor_error_try_again, ContinuousClock.now < deadline,
      cmonitor_lock(file, true) == 0
    {
      cmonitor_unlock(file)
      // Two processes that take the lock at the same time must not stay in step.
      cmonitor_sleep(Int64.random(in: 100_000...1_000_000))
      error = cmonitor_lock(file, false)
    }
    guard error != cmonitor_error_try_again else {
      throw RunFailure(runner: holder(of: directory) ?? 0, of: directory)
    }
    guard error == 0 else { throw RunFailure("lock the run", directory.path, error: error) }
    // Another process can have deleted the run after the file was opened.
    var (own, current) = (cmonitor_file_status(), cmonitor_file_status())
    guard cmonitor_read_open_status(file, &own) == 0,
      cmonitor_read_status(directory.lock, true, &current) == 0,
      own.device == current.device, own.number == current.number
    else { throw RunFailure("the run \(directory.id) was deleted") }
  }

  /// Returns the process that has the lock of a run. Any process may call this function at any time.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: The process id; 0 if it is unknown, or if the lock cannot be checked; `nil` if no process has the lock,
  ///   and therefore no runner is alive.
  package static func holder(of directory: RunDirectory) -> Int32? {
    let file = cmonitor_open_to_read(directory.lock)
    if file == -cmonitor_error_no_such_file || file == -cmonitor_error_not_a_directory {
      return nil
    }
    guard file >= 0 else { return 0 }
    defer { cmonitor_close(file) }
    // A process writes its id after it has taken the lock. Before that, the file may contain the id of an earlier one.
    for attempt in 0..<20 {
      if attempt > 0 { cmonitor_sleep(5_000_000) }
      if cmonitor_lock(file, true) == 0 { return nil }
      let process = processID(in: file)
      var status = cmonitor_file_status()
      if process > 0, cmonitor_read_status("/proc/\(process)", true, &status) == 0 {
        return process
      }
    }
    return 0
  }

  /// Returns the number that a lock file contains; 0 if it contains none.
  private static func processID(in file: Int32) -> Int32 {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = cmonitor_read_at(file, &bytes, bytes.count, 0)
    let digits = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
    return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
  }
}
