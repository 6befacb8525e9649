// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Glibc
import MonitorProtocol
import RunAnalysis

/// A file that holds what the dashboard showed, as a line of JSON.
enum ExportFile {
  /// More files of one second are not made.
  private static let numberLimit = 100
  /// More of a process's name is left out, so that the file's name is one that a directory takes.
  private static let processNameLimit = 64

  /// Writes a frame into a new file, which its owner alone may read.
  ///
  /// A file that is there already stays as it is: the new one gets a number. What cannot be written
  /// in full is taken away again.
  static func write(
    _ frame: BatchFrame, in directory: String = ".",
    writer: WholeWrite.Writer = { Glibc.write($0, $1.baseAddress, $1.count) }
  ) -> ExportResult {
    let stem = stem(of: frame)
    for number in 1...numberLimit {
      let name = number == 1 ? "\(stem).json" : "\(stem)-\(number).json"
      let path = "\(directory)/\(name)"
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      var error = file < 0 ? errno : 0
      if error == EEXIST { continue }
      if file >= 0 {
        error = Array(frame.jsonLine().utf8).withUnsafeBytes {
          WholeWrite.write($0, to: file, by: writer)
        }
        // What a network's or a full disk holds back is told when the file is closed.
        if close(file) != 0, error == 0 { error = errno }
        if error == 0 { return .written(operationCount: frame.operations.count, fileName: name) }
        unlink(path)
      }
      return .failed(reason: "cannot write \(name): \(String(cString: strerror(error)))")
    }
    return .failed(reason: "\(stem).json and \(numberLimit - 1) others are there already")
  }

  /// Whose frame it is, and of which second: `opq-top-tilebuild-4711-20261121T120431`.
  static func stem(of frame: BatchFrame) -> String {
    let process = kept(of: frame.process.name) { "._-".utf8.contains($0) }
    let time = kept(of: String(frame.time.wallClock.prefix { $0 != "." })) { _ in false }
    return "opq-top-\(process.isEmpty ? "process" : process)-\(frame.process.pid)-\(time)"
  }

  /// The ASCII letters and digits of a text, and what else is `allowed`.
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
