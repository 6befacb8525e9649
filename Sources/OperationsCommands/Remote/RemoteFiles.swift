// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// The files with which two processes exchange one work and its output.
///
/// The file ``messages`` contains small reports only. The other process writes an output of any size to the file
/// ``answer``, and this process decodes it from this file.
struct RemoteFiles: Hashable, Sendable {
  /// The environment variable that names the directory. A process with this variable was started for work.
  static let variable = "OPQ_REMOTE_WORK"

  /// The directory, which contains these files only.
  let directory: String
  /// Whether a method that writes a file waits until the file is on its device. A network file system may not report
  /// earlier that a file does not fit.
  var synchronizes = false

  /// The build of the executable, the name of the work's type, and the work.
  var request: String { "\(directory)/request" }
  /// A ``RemoteAnswer``, and the output if there is one. The file exists only when it is complete.
  var answer: String { "\(directory)/answer" }
  /// The answer until it is complete.
  private var partialAnswer: String { "\(directory)/answer.partial" }
  /// A line for each ``RemoteMessage``.
  var messages: String { "\(directory)/messages" }

  /// A file that cannot be used.
  struct Failure: Error {
    let path: String
    let number: Errno
  }

  init(directory: String) { self.directory = directory }

  /// Creates an empty directory.
  ///
  /// - Parameter parent: The directory in which it is created; `nil` for the usual one for temporary files.
  /// - Returns: The names of the files in it.
  /// - Throws: ``Failure`` if it cannot be created.
  static func create(in parent: String?) throws(Failure) -> RemoteFiles {
    let usual = csystem_secure_environment("TMPDIR").map { String(cString: $0) } ?? ""
    let parent = parent ?? (usual.isEmpty ? "/tmp" : usual)
    var path = Array("\(parent)/opq-remote-XXXXXX".utf8CString)
    let error = csystem_create_directory(&path)
    if error != 0 { throw Failure(path: parent, number: Errno(rawValue: error)) }
    return RemoteFiles(
      directory: String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  /// Removes the files and the directory. A second call does nothing.
  func remove() {
    for file in [request, answer, partialAnswer, messages] { csystem_delete_file(file) }
    csystem_remove_directory(directory)
  }

  // MARK: Contents

  /// The first bytes of a file, which identify the format. The format of another build may differ.
  private static let begin: StaticString = "opq-remote-work 1\n"

  /// Writes a file.
  ///
  /// - Throws: ``Failure``; the error of `body`.
  private func write(_ path: String, _ body: (ValueWriter) throws -> Void) throws {
    let file = csystem_create_private_file(path)
    if file < 0 { throw Failure(path: path, number: Errno(rawValue: -file)) }
    defer { csystem_close(file) }
    let writer = ValueWriter(file)
    writer.writeText(Self.begin)
    do {
      try body(writer)
      let error = synchronizes ? csystem_synchronize(file) : 0
      if error != 0 { throw Errno(rawValue: error) }
    } catch let error as Errno {
      throw Failure(path: path, number: error)
    }
  }

  /// Writes the request.
  ///
  /// - Throws: ``Failure``; the error of the work if it cannot be encoded.
  func writeRequest(_ request: RemoteRequest, _ work: some Encodable) throws {
    try write(self.request) { writer in
      try writer.write(request)
      try writer.write(work)
    }
  }

  /// Writes the answer, which exists only when the method has returned.
  ///
  /// - Parameters:
  ///   - answer: How the work has ended.
  ///   - output: The output; `nil` if there is none.
  /// - Throws: ``Failure``; the error of the output if it cannot be encoded.
  func writeAnswer(_ answer: RemoteAnswer, _ output: (any Encodable)? = nil) throws {
    try write(partialAnswer) { writer in
      try writer.write(answer)
      if let output { try writer.write(output) }
    }
    let error = csystem_rename(partialAnswer, self.answer)
    if error != 0 { throw Failure(path: self.answer, number: Errno(rawValue: error)) }
  }

  /// Reads a file that consists of two values.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - type: The type of the first value.
  ///   - body: Receives the first value, a reader, and the position of the second value.
  /// - Returns: The result of `body`; `nil` if another build has written the file.
  /// - Throws: ``Failure``; the error of the first value or of `body`.
  static func read<First: Decodable, Value>(
    _ path: String, _ type: First.Type,
    _ body: (First, ValueReader, _ position: Int) throws -> Value
  ) throws -> Value? {
    let file = csystem_open_input(path)
    if file < 0 { throw Failure(path: path, number: Errno(rawValue: -file)) }
    defer { csystem_close(file) }
    let bytes = ValueBytes(ofFile: file)
    guard bytes.count > begin.utf8CodeUnitCount else { return nil }
    var first = [UInt8](repeating: 0, count: begin.utf8CodeUnitCount)
    try first.withUnsafeMutableBytes { try bytes.copy(at: 0, to: $0) }
    guard begin.withUTF8Buffer({ $0.elementsEqual(first) }) else { return nil }
    let reader = ValueReader(bytes)
    let position = begin.utf8CodeUnitCount
    let value = try reader.decode(type, at: position)
    return try body(value, reader, reader.end(of: position))
  }
}

/// The first value of a request.
struct RemoteRequest: Codable, Hashable, Sendable {
  /// The build of the process that has written the request.
  let build: ExecutableBuild
  /// The name of the work's type; see ``ServedTypes``.
  let typeName: String
  /// Whether the work must end when the process that has written the request ends. That process holds a lock on the
  /// file.
  let endsWithWriter: Bool
}

/// The first value of an answer: how the work has ended.
enum RemoteAnswer: Codable, Hashable, Sendable {
  /// The work has an output, which follows.
  case output
  /// The work has thrown an error.
  case thrown(type: String, text: String)
  /// The work was cancelled, and has thrown `CancellationError`.
  case cancelled
  /// The request was written by another build.
  case otherBuild
  /// The type of the work is not known.
  case notServed
  /// The work cannot be decoded.
  case undecodableWork(String)
  /// The output cannot be encoded.
  case unencodableOutput(String)
}
