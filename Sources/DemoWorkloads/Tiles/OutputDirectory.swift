// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem

/// The directory for the files of a workload. The user chooses it, or it is a temporary directory that is
/// removed at the end.
struct OutputDirectory: Equatable, Sendable {
  /// The path of the directory, without a slash at the end.
  let path: String
  let isTemporary: Bool

  /// Creates the directory if it does not exist, and checks that files can be created in it.
  ///
  /// - Parameter requested: The path that the user has chosen; `nil` for a temporary directory.
  /// - Throws: `WorkloadError` if the directory cannot be created, or if no file can be created in it.
  init(requested: String?) throws(WorkloadError) {
    isTemporary = requested == nil
    do {
      if let requested {
        path = Self.withoutTrailingSlashes(requested)
        try FileSystem.createDirectory(path)
      } else {
        path = try FileSystem.createTemporaryDirectory()
      }
    } catch {
      throw WorkloadError(
        code: .cannotCreateDirectory(
          path: requested ?? "in the directory for temporary files", reason: error.description))
    }
    // A call of access() is not sufficient: for root it reports success even if the kernel refuses to create
    // a file.
    let probe = "\(path)/.opq-probe-\(csystem_process_id())"
    let descriptor = cmonitor_create_file(probe, CMONITOR_KEEP_EXISTING_FILE, 0o600)
    guard descriptor >= 0 else {
      throw WorkloadError(
        code: .cannotWrite(path: path, reason: SystemError(code: -descriptor).description))
    }
    cmonitor_close(descriptor)
    cmonitor_delete(probe)
  }

  private static func withoutTrailingSlashes(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}
