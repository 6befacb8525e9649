// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs a command in a queue of its own.
func run(_ command: Command) async throws -> CommandResult {
  let operation = CommandOperation(command)
  OperationQueue(name: "commands").addOperation(operation)
  return try await operation.value
}

/// Runs a shell text in a queue of its own.
func run(shell text: String) async throws -> CommandResult {
  try await run(Command(shell: text))
}

/// Runs a command that fails, and returns its error.
func failure(of command: Command) async -> CommandError? {
  do {
    _ = try await run(command)
    return nil
  } catch {
    return error as? CommandError
  }
}

/// Creates a command that passes its lines to a log.
func logged(_ text: String, in log: EventLog<String>) -> Command {
  var command = Command(shell: text)
  command.output = .lines { log.note($0) }
  return command
}

/// Writes a file.
func write(_ text: String, to path: String) {
  guard let file = fopen(path, "w") else { return }
  fputs(text, file)
  fclose(file)
}

/// Returns the contents of a file; empty if it cannot be read.
func contents(of path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes[..<count], as: UTF8.self)
}

/// Returns whether a process exists and has not ended.
func isAlive(_ process: Int) -> Bool {
  let state = state(of: process)
  return state != nil && state != "Z" && state != "X"
}

/// Returns the letter for the state of a process; `nil` if there is no such process.
func state(of process: Int) -> Character? {
  // The state is the first letter after the name, which is in parentheses.
  let fields = contents(of: "/proc/\(process)/stat").split(separator: ")").last ?? ""
  return fields.first { $0 != " " }
}

/// Returns the numbers after a word in the lines of a log, for example of “child 17”.
func numbers(after word: String, in log: EventLog<String>) -> [Int] {
  log.events.filter { $0.hasPrefix("\(word) ") }.compactMap { Int($0.dropFirst(word.count + 1)) }
}
