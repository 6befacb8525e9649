// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

extension RecordingReader {
  /// Opens the recording in a file. The file stays open while the reader is in use.
  ///
  /// - Throws: `FileError` if the file cannot be read. Its exit status is 4 if the recording has
  ///   another major version.
  init(path: String) throws(FileError) {
    let descriptor = cmonitor_open_to_read(path)
    guard descriptor >= 0 else { throw FileError("cannot open \(path)", errno: -descriptor) }
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

  deinit { cmonitor_close(descriptor) }

  /// The size of the file; `nil` if it is not a regular file.
  var size: Int? {
    var status = cmonitor_file_status()
    guard cmonitor_read_open_status(descriptor, &status) == 0, status.is_regular else { return nil }
    return Int(status.size)
  }

  /// Returns up to `count` bytes of the file from an offset on. Fewer bytes are returned at the end
  /// of the file.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = cmonitor_read_at(descriptor, buffer.baseAddress, count, Int64(offset))
    }
  }
}
