// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// Where a workload leaves its files: a directory of the user's, or one that goes away at the end.
struct OutputDirectory: Equatable, Sendable {
  /// Without a slash at the end.
  let path: String
  let isTemporary: Bool

  /// Creates the directory if it is not there, and makes sure that files can be created in it.
  ///
  /// - Parameter requested: The user's directory; `nil` for a temporary one.
  /// - Throws: When one of the two is impossible.
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
          path: requested ?? "for temporary files", reason: error.description))
    }
    // Asking access() would not do: it says yes to root where the kernel then refuses.
    let probe = "\(path)/.opq-probe-\(getpid())"
    let descriptor = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw WorkloadError(
        code: .cannotWrite(path: path, reason: SystemError.last.description))
    }
    close(descriptor)
    unlink(probe)
  }

  private static func withoutTrailingSlashes(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}
