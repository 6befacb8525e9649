// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// Why a file cannot be written or read.
struct FileError: Error, CustomStringConvertible {
  /// One sentence without a full stop.
  let description: String
  /// The exit status that says the same.
  let status: Int32

  init(_ description: String, status: Int32 = 2) {
    self.description = description
    self.status = status
  }

  init(_ words: String, errno code: Int32, status: Int32 = 2) {
    self.init("\(words): \(String(cString: strerror(code)))", status: status)
  }
}

/// A file that is written from its beginning to its end.
struct OutputFile: ~Copyable {
  let path: String
  private let descriptor: Int32
  /// How many bytes it has.
  private(set) var size = 0

  /// Creates the file, which its owner alone may read.
  ///
  /// - Parameters:
  ///   - path: Where.
  ///   - replaces: Whether a file that is there already is written over.
  /// - Throws: A sentence where it cannot be made, or is there already.
  init(creating path: String, replaces: Bool) throws(FileError) {
    self.path = path
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replaces ? O_TRUNC : O_EXCL)
    descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else {
      throw errno == EEXIST
        ? FileError("\(path) is there already; --force writes over it")
        : FileError("cannot create \(path)", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Writes bytes behind the others: all of them, or none.
  ///
  /// - Throws: A sentence where there is no room, or the file takes no more for another reason.
  mutating func append(_ bytes: [UInt8]) throws(FileError) {
    let error = bytes.withUnsafeBytes { write($0) }
    guard error == 0 else {
      // Half of a recording's update would do no harm, but says nothing either.
      ftruncate(descriptor, size)
      throw FileError("cannot write \(path)", errno: error, status: 1)
    }
    size += bytes.count
  }

  /// Deletes it: what it holds is of no use. Something else than a file, such as a device, stays.
  func discard() {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
    unlink(path)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Glibc.write(descriptor, part.baseAddress, part.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
