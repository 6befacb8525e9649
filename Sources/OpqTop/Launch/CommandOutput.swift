// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// The file for the output of a command that this program has started. Only its owner can read the file.
struct CommandOutput: ~Copyable {
  /// The maximum number of bytes that are printed at the end.
  static let printedLimit = 1 << 20

  /// The path of the file.
  private(set) var path: String
  /// The descriptor of the file. The command inherits a copy of it.
  let descriptor: Int32
  /// The path that the user has given, if a file exists there. ``replaceExisting()`` replaces that file.
  private var replaced: String?
  /// Whether the user has not named the file, so that it is deleted after it was printed.
  private let isTemporary: Bool
  /// Whether this program has created the file, so that it is deleted if the command cannot be started.
  private let isNew: Bool

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - named: The path that the user has given; `nil` for a new file in the directory for temporary files.
  ///   - replaces: Whether an existing file is replaced. If the path is something else, such as a device, the output
  ///     is written to it.
  /// - Throws: `FileError` if the file cannot be created or already exists.
  init(named: String?, replaces: Bool) throws(FileError) {
    if let named { try OutputFile.checkCreatable(named, replaces: replaces) }
    let isRegular = named.flatMap(OutputFile.isRegular)
    // An existing file keeps its contents until the command was started.
    let replaced = isRegular == true ? named : nil
    let (path, descriptor) =
      if let named, replaced == nil {
        Self.open(named, isNew: isRegular == nil)
      } else {
        OutputFile.createUnique(
          replaced.map(OutputFile.resolved) ?? "\(Self.temporaryDirectory)/opq-top-output-",
          appends: true)
      }
    guard descriptor >= 0 else {
      throw FileError("cannot create \(named ?? path)", errno: -descriptor)
    }
    (self.path, self.descriptor, self.replaced) = (path, descriptor, replaced)
    (isTemporary, isNew) = (named == nil, isRegular != false)
  }

  deinit { cmonitor_close(descriptor) }

  private static var temporaryDirectory: String {
    let directory = cmonitor_environment("TMPDIR").map { String(cString: $0) } ?? ""
    return directory.isEmpty ? "/tmp" : directory
  }

  private static func open(_ path: String, isNew: Bool) -> (path: String, descriptor: Int32) {
    (path, cmonitor_open_to_append(path, isNew))
  }

  /// Deletes the file if this program has created it, because the command was not started. An existing file that the
  /// user has named keeps its contents.
  func discard() {
    if isNew { cmonitor_delete(path) }
  }

  /// Replaces the existing file that the user has named. Call this method after the command was started.
  ///
  /// - Returns: The sentence that the existing file could not be replaced, with the path of the output; `nil` if it
  ///   was replaced, or if there was none.
  mutating func replaceExisting() -> String? {
    guard let named = replaced.take() else { return nil }
    let error = cmonitor_rename(path, OutputFile.resolved(named))
    guard error == 0 else {
      let reason = String(cString: cmonitor_error_text(error))
      return "cannot replace \(named): \(reason); the command's output is in \(path)"
    }
    path = named
    return nil
  }

  /// Prints the output of the command on a stream, and deletes the file if the user has not named it. If the output
  /// is long, prints only its end and keeps the file. A file that is not regular, such as a device, is not printed.
  ///
  /// On a terminal, a dot replaces each control character except a tab and the end of a line.
  ///
  /// - Returns: The sentence that names a file with further output, or `nil` if everything was printed; and whether
  ///   the output could be printed. If it could not be printed, the file is kept.
  func printContents(on stream: StandardStream) -> (remark: String?, isPrinted: Bool) {
    var status = cmonitor_file_status()
    guard cmonitor_read_open_status(descriptor, &status) == 0, status.is_regular else {
      return (nil, true)
    }
    let (bytes, isCut) = end(of: Int(status.size))
    let error =
      stream.isTerminal
      ? stream.write(Self.printable(bytes)) : bytes.withUnsafeBytes { stream.write($0) }
    guard error == 0 else {
      let reason = String(cString: cmonitor_error_text(error))
      return ("cannot print the command's output: \(reason); it is in \(path)", false)
    }
    if isCut {
      let all = "\(path) has all \(status.size) bytes"
      return ("only the end of the command's output is shown; \(all)", true)
    }
    if isTemporary { cmonitor_delete(path) }
    return (nil, true)
  }

  /// Returns the end of the file, beginning with a complete line, and whether bytes before it were left out.
  private func end(of size: Int) -> (bytes: [UInt8], isCut: Bool) {
    let start = max(0, size - Self.printedLimit)
    let bytes = [UInt8](unsafeUninitializedCapacity: size - start) { buffer, filled in
      filled = cmonitor_read_at(descriptor, buffer.baseAddress, buffer.count, Int64(start))
    }
    guard start > 0 else { return (bytes, false) }
    let line = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return (Array(bytes[line...]), true)
  }

  /// Returns the output as text that does not control a terminal.
  static func printable(_ bytes: [UInt8]) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let isKept = scalar == "\n" || scalar == "\t" || !scalar.isObeyed
      shown.append(isKept ? scalar : "\u{B7}")
    }
    return String(shown)
  }
}
