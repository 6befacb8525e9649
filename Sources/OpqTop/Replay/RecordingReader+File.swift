// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension RecordingReader {
  /// Opens the recording in a file. The file stays open while the reader is in use.
  ///
  /// - Throws: `FileError` if the file cannot be read. Its exit status is 4 if the recording has
  ///   another major version.
  init(path: String) throws(FileError) {
    // The file is opened without blocking. If it is a pipe, a blocking call would wait until
    // another process opens the pipe for writing.
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

/// An open file. The file is closed when the last reference is released.
private final class ReadableFile: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The size of the file; `nil` if it is not a regular file.
  var size: Int? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return facts.st_size
  }

  /// Returns up to `count` bytes of the file from an offset on. Fewer bytes are returned at the end
  /// of the file.
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
