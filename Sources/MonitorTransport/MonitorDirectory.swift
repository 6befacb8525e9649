// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem

/// The directory that contains the sockets of a user's processes. It is `$XDG_RUNTIME_DIR/opq`, or
/// `/tmp/opq-<uid>` if the first directory cannot be used.
///
/// Only the owner may have access to the directory. This is checked, because any user can create a
/// directory in `/tmp`.
package struct MonitorDirectory: Sendable, Equatable {
  /// The path of the directory.
  package let path: String

  /// Returns the directories in which a process of this user may have its socket. The preferred
  /// directory is first. The directories may not exist.
  ///
  /// - Parameters:
  ///   - user: The id of the user.
  ///   - places: The places to search.
  /// - Returns: The directories, without duplicates.
  package static func candidates(
    of user: UInt32 = cmonitor_user_id(), in places: MonitorPlaces = .ofEnvironment
  ) -> [MonitorDirectory] {
    if let only = places.only { return [MonitorDirectory(path: only)] }
    // A viewer may run without the environment variable `XDG_RUNTIME_DIR`, for example in a shell
    // that `sudo` has started.
    let usual = MonitorDirectory(path: "/run/user/\(user)/opq")
    let made = makeable(by: user, in: places)
    return made.contains(usual) ? made : made + [usual]
  }

  /// Returns the directories in which a process of this user may create its socket.
  private static func makeable(by user: UInt32, in places: MonitorPlaces) -> [MonitorDirectory] {
    var paths: [String] = []
    if user == cmonitor_user_id(), let runtimePath = places.runtimePath {
      paths.append("\(runtimePath)/opq")
    }
    paths.append("\(places.sharedPath)/opq-\(user)")
    return (places.only.map { [$0] } ?? paths).map { MonitorDirectory(path: $0) }
  }

  /// The maximum length in bytes of a socket's path. The kernel accepts 107; the library with which viewers
  /// connect accepts 103.
  package static let longestSocketPath = 103

  /// The sentence that ends the message about a directory that cannot be trusted.
  private static let requirement =
    "The monitor's sockets need a directory that only this user can access."

  /// Returns the directory for a socket with this name. Creates the directory if it does not exist.
  ///
  /// - Throws: `MonitorDirectoryError` if no directory can be used.
  package static func prepared(
    for name: MonitorSocketName, in places: MonitorPlaces = .ofEnvironment
  ) throws(MonitorDirectoryError) -> MonitorDirectory {
    var lastError: MonitorDirectoryError?
    for directory in makeable(by: cmonitor_user_id(), in: places) {
      let longest = directory.path(of: name.fileName)
      guard longest.utf8.count <= Self.longestSocketPath else {
        lastError = MonitorDirectoryError("the path of the socket is too long: \(longest)")
        continue
      }
      let error = cmonitor_create_private_directory(directory.path)
      guard error == 0 else {
        let reason = String(cString: cmonitor_error_text(error))
        lastError = MonitorDirectoryError(
          "cannot create the directory \(directory.path): \(reason)")
        continue
      }
      // If the directory exists and cannot be trusted, the method fails and does not try the next
      // directory. An attacker may have created the untrusted directory so that the next one is
      // used.
      try directory.check()
      return directory
    }
    throw lastError ?? MonitorDirectoryError("no directory is available for the monitor's socket")
  }

  /// Checks that the directory belongs to the owner and that only the owner has access.
  ///
  /// - Parameter owner: The required owner.
  /// - Throws: `MonitorDirectoryError` if the directory does not exist or cannot be trusted.
  package func check(owner: UInt32 = cmonitor_user_id()) throws(MonitorDirectoryError) {
    var status = cmonitor_file_status()
    let error = cmonitor_read_status(path, false, &status)
    guard error == 0 else {
      let reason = String(cString: cmonitor_error_text(error))
      throw MonitorDirectoryError("cannot check \(path): \(reason)")
    }
    guard status.is_directory else {
      throw MonitorDirectoryError(
        "\(path) is not a directory. \(Self.requirement)")
    }
    guard status.owner == owner else {
      throw MonitorDirectoryError(
        "\(path) belongs to another user. \(Self.requirement)")
    }
    guard status.permissions & 0o077 == 0 else {
      throw MonitorDirectoryError(
        "other users have access to \(path). \(Self.requirement)")
    }
  }

  /// Returns the path of a file in the directory.
  package func path(of fileName: String) -> String { "\(path)/\(fileName)" }

  /// The names of the files in the directory; empty if the directory cannot be read.
  package var fileNames: [String] {
    guard let directory = cmonitor_open_directory(path) else { return [] }
    defer { cmonitor_close_directory(directory) }
    var names: [String] = []
    while let name = cmonitor_next_name(directory) { names.append(String(cString: name)) }
    return names.sorted()
  }

  /// Connects to the process that listens at a path, and disconnects at once. Returns whether a process listened.
  package static func touch(_ path: String) -> Bool { cmonitor_is_listening_at(path) }

  /// Deletes the sockets of processes that have ended, for example after a crash.
  ///
  /// A process in another process namespace may exist although it is not visible here. Therefore
  /// the method does not delete a socket on which a process listens.
  package func removeStaleSockets() {
    for fileName in fileNames {
      guard let name = MonitorSocketName(fileName: fileName), !name.isAlive else { continue }
      let path = path(of: fileName)
      if !cmonitor_is_listening_at(path) { cmonitor_delete(path) }
    }
  }
}

/// The reason why the directory for sockets cannot be created or trusted.
package struct MonitorDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason as a sentence for the user, without a full stop. Paths in the sentence are
  /// unsanitised.
  package let description: String

  /// Creates an error from its description.
  package init(_ description: String) { self.description = description }
}

/// The directories below which the directories for sockets are searched and created.
package struct MonitorPlaces: Sendable {
  /// The only directory for sockets; `nil` if the usual directories are used. A container uses this
  /// value to share a directory. Tests use it so that they do not find other processes of the same
  /// user.
  package var only: String?
  /// The directory that the system has created for the user's session; `nil` if the system has
  /// created none.
  package var runtimePath: String?
  /// The directory that every user can write to.
  package var sharedPath = "/tmp"

  /// The places that the environment variables `OPQ_SOCKET_DIRECTORY` and `XDG_RUNTIME_DIR` name. A
  /// variable that is not an absolute path is ignored.
  package static var ofEnvironment: MonitorPlaces {
    MonitorPlaces(
      only: absolutePath("OPQ_SOCKET_DIRECTORY"), runtimePath: absolutePath("XDG_RUNTIME_DIR"))
  }

  private static func absolutePath(_ variable: String) -> String? {
    guard let value = csystem_secure_environment(variable) else { return nil }
    let path = String(cString: value)
    return path.hasPrefix("/") ? path : nil
  }
}
