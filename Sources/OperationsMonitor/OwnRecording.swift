// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import Logging
import MonitorProtocol
import OperationsCollector
import OperationsCore

/// The recording of this process in a file, which the environment variable `OPQ_RECORD` requests. It needs no viewer.
final class OwnRecording: Sendable {
  private let recorder = Locked<Recorder?>(nil)
  private let isFinishing = Locked(false)
  private let hasReported = Locked(false)
  /// The process that records. A forked child does not write to the file of its parent.
  private let owner = csystem_process_id()

  /// Creates the file, and begins to record all operations that start after this call.
  ///
  /// - Parameter path: The path of the file, which must not exist.
  /// - Throws: `FileError` if the file cannot be created.
  init(into path: String) throws(FileError) {
    let interest = Recorder.interest()
    let recorder = Recorder(interest) { [weak self] in self?.reportFailureSoon() }
    self.recorder.withLock { $0 = recorder }
    // An existing file is detected before the session makes the queues store records.
    try OutputFile.checkAbsence(of: path, replaces: false)
    recorder.open { wake in
      MonitorSession(
        minimumInterval: Recorder.interval, interest: interest, isReadOnly: true, wake: wake)
    }
    try recorder.begin(into: path, replaces: false)
  }

  /// Records the last changes, and completes the file. The method returns after half a second at the latest. If the
  /// collector's thread, which reads the changes, calls it, the last changes are not recorded. In a forked child, the
  /// method does nothing.
  func finish() {
    guard csystem_process_id() == owner, let recorder = recorder.withLock({ $0 }) else { return }
    isFinishing.withLock { $0 = true }
    recorder.finish(awaitsUpdate: !MonitorSession.isOnCollectorThread)
    reportFailure()
  }

  /// Returns the path of the file: the value of the variable, in which the process id replaces each `%p`.
  static func path(for value: String, process: Int32 = csystem_process_id()) -> String {
    var path = ""
    var rest = value[...]
    while let mark = rest.firstIndex(of: "%") {
      let next = rest.index(after: mark)
      let isID = next < rest.endIndex && rest[next] == "p"
      path += rest[..<mark] + (isID ? "\(process)" : "%")
      rest = rest[(isID ? rest.index(after: next) : next)...]
    }
    return path + rest
  }

  /// Logs on another thread why the recording has stopped early, unless ``finish()`` does it first.
  private func reportFailureSoon() {
    // The recorder's queue calls this method. A handler of the log may end the process, and the end waits for that
    // queue. Therefore the handler runs on another thread.
    guard !isFinishing.withLock({ $0 }) else { return }
    DispatchQueue.global().async { self.reportFailure() }
  }

  /// Logs why the recording has stopped early, if it has. Only the first call logs.
  private func reportFailure() {
    guard let failure = recorder.withLock({ $0 })?.outcome.failure,
      !hasReported.withLock({ hasReported in
        defer { hasReported = true }
        return hasReported
      })
    else { return }
    Logger(label: "opq").warning("the recording of this process stopped: \("\(failure)".inLog)")
  }
}
