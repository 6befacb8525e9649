// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import TestSupport

/// Runs the fixture `remote`, which runs work in another process.
///
/// - Parameters:
///   - arguments: The name of the work, and its arguments.
///   - program: The path of the fixture.
///   - environment: Changes of the environment variables.
/// - Returns: The lines that the fixture has written.
/// - Throws: `CommandError` if the fixture fails.
func runRemote(
  _ arguments: String..., program: String = BuiltFolder.path(of: "fixture-remote"),
  environment: [String: String?] = [:]
) async throws -> [String] {
  var command = Command(program, arguments)
  command.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { given, _ in given }
  return try await run(command).text.split(separator: "\n").map { String($0) }
}

/// Encodes a value into a file, and decodes it again.
func recoded<Value: Codable>(_ value: Value) throws -> Value? {
  let directory = try TemporaryDirectory()
  let files = RemoteFiles(directory: directory.path)
  try files.writeAnswer(.output, value)
  return try RemoteFiles.read(files.answer, RemoteAnswer.self) { _, reader, position in
    try reader.decode(Value.self, at: position)
  }
}

/// Returns all bytes of a file with the encoded value.
func encoded(_ value: some Encodable) throws -> [UInt8] {
  let directory = try TemporaryDirectory()
  let files = RemoteFiles(directory: directory.path)
  try files.writeAnswer(.output, value)
  return try RemoteFiles.read(files.answer, RemoteAnswer.self) { _, reader, position in
    var bytes = [UInt8](repeating: 0, count: reader.bytes.count - position)
    try bytes.withUnsafeMutableBytes { try reader.bytes.copy(at: position, to: $0) }
    return bytes
  } ?? []
}
