// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// What distinguishes the executable of a process from other builds. Shared libraries are not a part of it.
struct ExecutableBuild: Codable, Hashable, Sendable {
  /// The identity of a file on one machine.
  struct File: Codable, Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: UInt64
    let changeTime: Int64
  }

  let file: File
  /// A hash of the contents of the file.
  let hash: UInt64

  /// The build of this process, which is computed once. Reading the whole executable takes time.
  static let own = Result { () throws(Errno) in
    ExecutableBuild(file: try ownFile, hash: try ownHash)
  }

  /// Returns whether this is the build of this process. If it is the same file, its contents need not be read.
  ///
  /// - Throws: The error of the system if the executable cannot be read.
  var isOwn: Bool {
    get throws(Errno) {
      if try Self.ownFile == file { return true }
      return try Self.ownHash == hash
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

  private static var ownHash: UInt64 {
    get throws(Errno) {
      var hash: UInt64 = 0
      let error = csystem_executable_hash(&hash)
      if error != 0 { throw Errno(rawValue: error) }
      return hash
    }
  }
}
