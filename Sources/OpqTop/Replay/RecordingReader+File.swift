// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol

extension RecordingReader {
  /// Opens the recording in a file, which stays open.
  ///
  /// - Throws: A sentence, with the status 4 if the recording has another major version.
  init(path: String) throws(FileError) {
    // Opening a pipe would block until another process opens it for writing.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileError("cannot open \(path)", errno: errno) }
    let file = ReadableFile(descriptor)
    guard let size = file.size else { throw FileError("\(path) is not a file") }
    do {
      try self.init(size: size) { file.bytes(at: $0, count: $1) }
    } catch {
      throw FileError("\(path): \(error)", status: error.isOtherVersion ? 4 : 2)
    }
  }
}

/// An open file, which is closed with the last reference.
private final class ReadableFile: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The size; `nil` if it is not a regular file.
  var size: Int? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return facts.st_size
  }

  /// Returns the bytes at an offset, up to a count; fewer at the end of the file.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
        let read = pread(descriptor, rest.baseAddress, rest.count, offset + filled)
        if read > 0 {
          filled += read
        } else if read == 0 || errno != EINTR {
          return
        }
      }
    }
  }
}
