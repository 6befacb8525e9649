// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
import Glibc
import COperationsSystem

/// The directory that holds the sockets of a user's processes: `$XDG_RUNTIME_DIR/opq`, or `/tmp/opq-<uid>` if
/// the first is impossible.
///
/// Only its owner may access it, which is checked: in `/tmp` any user may have made it.
package struct MonitorDirectory: Sendable, Equatable {
  /// Its path.
  package let path: String

  /// Returns the directories in which a process of this user may have its socket, the preferred one first.
  /// They may not exist.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - places: The places to search.
  /// - Returns: The directories, without duplicates.
  package static func candidates(
    of user: UInt32 = geteuid(), in places: MonitorPlaces = .ofEnvironment
  ) -> [MonitorDirectory] {
    if let only = places.only { return [MonitorDirectory(path: only)] }
    // A viewer may run without the variable, as in a shell of sudo.
    let usual = MonitorDirectory(path: "/run/user/\(user)/opq")
    let made = makeable(by: user, in: places)
    return made.contains(usual) ? made : made + [usual]
  }

  /// Returns those of them that a process may make.
  private static func makeable(by user: UInt32, in places: MonitorPlaces) -> [MonitorDirectory] {
    var paths: [String] = []
    if user == geteuid(), let runtimePath = places.runtimePath {
      paths.append("\(runtimePath)/opq")
    }
    paths.append("\(places.sharedPath)/opq-\(user)")
    return (places.only.map { [$0] } ?? paths).map { MonitorDirectory(path: $0) }
  }

  /// The maximum length in bytes of a socket's path. The kernel accepts 107; the library with which viewers
  /// connect accepts 103.
  package static let longestSocketPath = 103

  /// Returns the directory for a socket with this name, and makes it if it does not exist.
  ///
  /// - Throws: `MonitorDirectoryError` with the reason, if no place is usable.
  package static func prepared(
    for name: MonitorSocketName, in places: MonitorPlaces = .ofEnvironment
  ) throws(MonitorDirectoryError) -> MonitorDirectory {
    var lastError: MonitorDirectoryError?
    for directory in makeable(by: geteuid(), in: places) {
      let longest = directory.path(of: name.fileName)
      guard longest.utf8.count <= Self.longestSocketPath else {
        lastError = MonitorDirectoryError("the path of the socket is too long: \(longest)")
        continue
      }
      guard directory.make() else {
        let reason = String(cString: strerror(errno))
        lastError = MonitorDirectoryError("cannot make the directory \(directory.path): \(reason)")
        continue
      }
      // If a directory exists and cannot be trusted, the next one is not tried: an attacker may want that.
      try directory.check()
      return directory
    }
    throw lastError ?? MonitorDirectoryError("there is no directory for the socket")
  }

  /// Makes the directory, for its owner alone, if it does not exist.
  ///
  /// - Returns: Whether it exists now; if not, `errno` has the reason.
  private func make() -> Bool {
    guard mkdir(path, S_IRWXU) == 0 else { return errno == EEXIST }
    // The process's mask may have removed permissions of the owner. The mask is not changed, because it
    // belongs to the process, and other threads make files at the same time.
    return chmod(path, S_IRWXU) == 0
  }

  /// Checks that only its owner has access.
  ///
  /// - Parameter owner: The required owner.
  /// - Throws: `MonitorDirectoryError` if it does not exist, or cannot be trusted.
  package func check(owner: UInt32 = geteuid()) throws(MonitorDirectoryError) {
    var facts = stat()
    guard lstat(path, &facts) == 0 else {
      throw MonitorDirectoryError("cannot check \(path): \(String(cString: strerror(errno)))")
    }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      throw MonitorDirectoryError("\(path) is not a directory; it is not safe")
    }
    guard facts.st_uid == owner else {
      throw MonitorDirectoryError("\(path) belongs to another user; it is not safe")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw MonitorDirectoryError("other users have access to \(path); it is not safe")
    }
  }

  /// Returns the path of a file in it.
  package func path(of fileName: String) -> String { "\(path)/\(fileName)" }

  /// The names of the files in it; none if it cannot be read.
  package var fileNames: [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Deletes the sockets of processes that have ended, for example after a crash.
  ///
  /// A process that is not visible here may still exist, in another namespace of ids. Therefore a socket on
  /// which a process listens stays.
  package func removeStaleSockets() {
    for fileName in fileNames {
      guard let name = MonitorSocketName(fileName: fileName), !name.isAlive else { continue }
      let path = path(of: fileName)
      if !ctransport_is_listening_at(path) { unlink(path) }
    }
  }
}

/// The reason why a directory of sockets cannot be made or trusted, as a sentence without a full stop.
package struct MonitorDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sentence. A path in it is as the system gave it.
  package let description: String

  /// Creates an error with its sentence.
  package init(_ description: String) { self.description = description }
}

/// The places where directories of sockets are searched and made.
package struct MonitorPlaces: Sendable {
  /// The only directory of sockets: for a container that shares it, and for tests, which must not see the
  /// other processes of the same user. `nil` for the usual places.
  package var only: String?
  /// The directory that the system has made for the user's session; `nil` if there is none.
  package var runtimePath: String?
  /// The directory that every user may write to.
  package var sharedPath = "/tmp"

  /// The values of the variables `OPQ_SOCKET_DIRECTORY` and `XDG_RUNTIME_DIR`, if they are absolute paths.
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
