// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// The directory for a workload's files: the user's, or a temporary one that is removed at the end.
struct OutputDirectory: Equatable, Sendable {
  /// The path, without a slash at the end.
  let path: String
  let isTemporary: Bool

  /// Creates the directory if it does not exist, and checks that files can be created in it.
  ///
  /// - Parameter requested: The user's directory; `nil` for a temporary one.
  /// - Throws: `WorkloadError` if one of the two is impossible.
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
    // access() is not enough: for root it reports success even if the kernel then refuses.
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
