// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorTransport
import Glibc

/// The directory that holds the sockets of a user's processes: `$XDG_RUNTIME_DIR/opq`, or
/// `/tmp/opq-<uid>` where that cannot be.
///
/// Only its owner may look into it, which is checked: in `/tmp` anybody may have made it.
package struct MonitorDirectory: Sendable, Equatable {
  /// Its path.
  package let path: String

  /// Where a process of this user may have its socket, what is preferred first. That they exist is not
  /// said.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - places: Where to look.
  /// - Returns: The directories, each once.
  package static func candidates(
    of user: UInt32 = geteuid(), in places: MonitorPlaces = .ofEnvironment
  ) -> [MonitorDirectory] {
    if let only = places.only { return [MonitorDirectory(path: only)] }
    // Where a viewer was not told of it, as in a shell of sudo's.
    let usual = MonitorDirectory(path: "/run/user/\(user)/opq")
    let made = makeable(by: user, in: places)
    return made.contains(usual) ? made : made + [usual]
  }

  /// Those of them that a process may make.
  private static func makeable(by user: UInt32, in places: MonitorPlaces) -> [MonitorDirectory] {
    var paths: [String] = []
    if user == geteuid(), let runtimePath = places.runtimePath {
      paths.append("\(runtimePath)/opq")
    }
    paths.append("\(places.sharedPath)/opq-\(user)")
    return (places.only.map { [$0] } ?? paths).map { MonitorDirectory(path: $0) }
  }

  /// The most bytes that the path of a socket may have: the kernel takes 107, what viewers connect with
  /// takes 103.
  package static let longestSocketPath = 103

  /// Makes the directory, or finds it made, for a socket of this name.
  ///
  /// - Throws: `MonitorDirectoryError` where no place will do; it says why.
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
      // One that is there and cannot be trusted is no reason to try another: somebody wants that.
      try directory.check()
      return directory
    }
    throw lastError ?? MonitorDirectoryError("there is no directory for the socket")
  }

  /// Makes it, for its owner alone, where it is not there.
  ///
  /// - Returns: Whether it is there now; `errno` says why not.
  private func make() -> Bool {
    guard mkdir(path, S_IRWXU) == 0 else { return errno == EEXIST }
    // The process's mask may have taken from its owner what others never had. It is the process's: other
    // threads make files at this moment.
    return chmod(path, S_IRWXU) == 0
  }

  /// Checks that only its owner has access.
  ///
  /// - Parameter owner: Who that has to be.
  /// - Throws: `MonitorDirectoryError` where it is not there, or not to be trusted.
  package func check(owner: UInt32 = geteuid()) throws(MonitorDirectoryError) {
    var facts = stat()
    guard lstat(path, &facts) == 0 else {
      throw MonitorDirectoryError("cannot look at \(path): \(String(cString: strerror(errno)))")
    }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      throw MonitorDirectoryError("\(path) is not a directory, and is not to be trusted")
    }
    guard facts.st_uid == owner else {
      throw MonitorDirectoryError("\(path) belongs to another user, and is not to be trusted")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw MonitorDirectoryError("others have access to \(path), which is not to be trusted")
    }
  }

  /// The path of a file in it.
  package func path(of fileName: String) -> String { "\(path)/\(fileName)" }

  /// The names of the files in it; none where it cannot be read.
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

  /// Deletes the sockets of processes that are gone, as those that crashed leave them.
  ///
  /// A process that is not visible here may be there all the same, in another namespace of ids: a
  /// socket that somebody listens to stays.
  package func removeStaleSockets() {
    for fileName in fileNames {
      guard let name = MonitorSocketName(fileName: fileName), !name.isAlive else { continue }
      let path = path(of: fileName)
      if !ctransport_is_listening_at(path) { unlink(path) }
    }
  }
}

/// Why a directory of sockets cannot be made or trusted, as a sentence without a full stop.
package struct MonitorDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sentence. A path in it is as the system gave it.
  package let description: String

  /// Creates an error with its sentence.
  package init(_ description: String) { self.description = description }
}
