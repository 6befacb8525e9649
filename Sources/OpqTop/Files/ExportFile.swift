// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Dashboard
import MonitorProtocol
import RunAnalysis

/// A file with the dashboard's operations as one line of JSON.
enum ExportFile {
  /// The maximum number of exported files with the same second in their names.
  private static let numberLimit = 100
  /// The maximum length of the process's name in the name of a file, so that the file's name is
  /// valid.
  private static let processNameLimit = 64

  /// Writes a frame to a new file that only its owner can read.
  ///
  /// An existing file is not overwritten: a number is added to the name of the new file. If the
  /// frame cannot be written completely, the file is removed.
  static func write(
    _ frame: BatchFrame, in directory: String = ".",
    writer: WholeWrite.Writer = { cmonitor_write($0, $1.baseAddress, $1.count) }
  ) -> ExportResult {
    let stem = stem(of: frame)
    for number in 1...numberLimit {
      let name = number == 1 ? "\(stem).json" : "\(stem)-\(number).json"
      let path = "\(directory)/\(name)"
      let file = cmonitor_create_file(path, CMONITOR_FAIL_IF_FILE_EXISTS, 0o600)
      var error = file < 0 ? -file : 0
      if error == cmonitor_error_file_exists { continue }
      if file >= 0 {
        error = Array(frame.jsonLine().utf8).withUnsafeBytes {
          WholeWrite.write($0, to: file, by: writer)
        }
        // The system may report a network error or a full disk only when the file is closed, so
        // this error counts too.
        let closingError = cmonitor_close(file)
        if error == 0 { error = closingError }
        if error == 0 { return .written(operationCount: frame.operations.count, fileName: name) }
        cmonitor_delete(path)
      }
      return .failed(reason: "cannot write \(name): \(String(cString: cmonitor_error_text(error)))")
    }
    return .failed(reason: "\(stem).json to \(stem)-\(numberLimit).json already exist")
  }

  /// Returns the beginning of the file's name, which contains the name and the id of the process,
  /// and the date and time in seconds: `opq-top-tilebuild-4711-20261121T120431`.
  static func stem(of frame: BatchFrame) -> String {
    let process = kept(of: frame.process.name) { "._-".utf8.contains($0) }
    let time = kept(of: String(frame.time.wallClock.prefix { $0 != "." })) { _ in false }
    return "opq-top-\(process.isEmpty ? "process" : process)-\(frame.process.pid)-\(time)"
  }

  /// Returns only the ASCII letters and digits of a text, and the bytes for which `allowed` returns
  /// `true`.
  private static func kept(of text: String, _ allowed: (UInt8) -> Bool) -> String {
    let bytes = text.utf8.filter { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: allowed(byte)
      }
    }
    return String(decoding: bytes.prefix(processNameLimit), as: UTF8.self)
  }
}

/// Writes bytes in several steps if the system does not write all of them in one step.
enum WholeWrite {
  /// A function that writes bytes to an open file. Returns the number of written bytes, or the negative error number.
  typealias Writer = (Int32, UnsafeRawBufferPointer) -> Int

  /// Writes all bytes. Returns 0 if it succeeds, and otherwise the error number.
  fileprivate static func write(
    _ bytes: UnsafeRawBufferPointer, to file: Int32, by writer: Writer
  ) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = writer(file, UnsafeRawBufferPointer(rebasing: rest))
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if -count != cmonitor_error_interrupted {
        return Int32(-count)
      }
    }
    return 0
  }
}
