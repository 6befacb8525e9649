// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// The values that distinguish the executable of a process from other builds. Shared libraries are not compared.
struct ExecutableBuild: Codable, Hashable, Sendable {
  /// The identity of a file on one machine.
  struct File: Codable, Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: UInt64
    let changeTime: Int64
  }

  let file: File
  /// A hash of the contents of the file; `nil` if only the same file counts as the same build.
  let hash: UInt64?

  /// Finds the build of this process.
  ///
  /// - Parameter isHashed: Whether a copy of the file counts as the same build. If `true`, the first call in a process
  ///   reads the whole file.
  /// - Returns: The build.
  /// - Throws: The error of the system if the executable cannot be read.
  static func own(isHashed: Bool) throws(Errno) -> ExecutableBuild {
    ExecutableBuild(file: try ownFile, hash: isHashed ? try ownHash.get() : nil)
  }

  /// Whether this is the build of this process. If the file is the same, its contents are not read.
  ///
  /// - Throws: The error of the system if the executable cannot be read.
  var isOwn: Bool {
    get throws(Errno) {
      if try Self.ownFile == file { return true }
      return if let hash { try Self.ownHash.get() == hash } else { false }
    }
  }

  private static var ownFile: File {
    get throws(Errno) {
      var identity = csystem_file_identity()
      let error = csystem_executable_identity(&identity)
      if error != 0 { throw Errno(rawValue: error) }
      return File(
        device: identity.device, inode: identity.inode, size: identity.size,
        changeTime: identity.change_time)
    }
  }

  /// The hash of the executable of this process, which is computed once.
  private static let ownHash = Result { () throws(Errno) in
    var hash: UInt64 = 0
    let error = csystem_executable_hash(&hash)
    if error != 0 { throw Errno(rawValue: error) }
    return hash
  }
}
