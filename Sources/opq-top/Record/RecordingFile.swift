// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol

/// Why a recording cannot be written or read.
struct RecordingFileError: Error, CustomStringConvertible {
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

/// The file into which a recording is written. What it holds can be played at any time.
struct RecordingFile: ~Copyable {
  let path: String
  private let descriptor: Int32
  /// How many bytes of it are whole updates.
  private(set) var size = 0

  /// Creates the file, which its owner alone may read.
  ///
  /// - Parameters:
  ///   - path: Where.
  ///   - replaces: Whether a file that is there already is written over.
  /// - Throws: A sentence where it cannot be made, or is there already.
  init(creating path: String, replaces: Bool) throws(RecordingFileError) {
    self.path = path
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replaces ? O_TRUNC : O_EXCL)
    descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else {
      throw errno == EEXIST
        ? RecordingFileError("\(path) is there already; --force writes over it")
        : RecordingFileError("cannot create \(path)", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Writes bytes behind the others: all of them, or none.
  ///
  /// - Throws: A sentence where there is no room, or the file takes no more for another reason.
  mutating func append(_ bytes: [UInt8]) throws(RecordingFileError) {
    let error = bytes.withUnsafeBytes { write($0) }
    guard error == 0 else {
      // Half an update would do no harm, but says nothing either.
      ftruncate(descriptor, size)
      throw RecordingFileError("cannot write \(path)", errno: error, status: 1)
    }
    size += bytes.count
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

extension RecordingReader {
  /// Opens the recording in a file, which stays open.
  ///
  /// - Throws: A sentence, with the status 4 where it has another major version.
  init(path: String) throws(RecordingFileError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RecordingFileError("cannot open \(path)", errno: errno) }
    let file = ReadableFile(descriptor)
    guard let size = file.size else { throw RecordingFileError("\(path) is no file") }
    do {
      try self.init(size: size) { file.bytes(at: $0, count: $1) }
    } catch {
      throw RecordingFileError("\(path): \(error)", status: error.isOtherVersion ? 4 : 2)
    }
  }
}

/// An open file, closed with the last reference.
private final class ReadableFile: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// How long it is; `nil` where it is something else than a file.
  var size: Int? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return facts.st_size
  }

  /// As many bytes as there are, and no more than so many.
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
