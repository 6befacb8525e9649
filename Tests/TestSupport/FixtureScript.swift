// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The scripts below `Tests/Fixtures` that start real services for tests.
enum FixtureScript {
  /// Runs a script.
  ///
  /// - Parameters:
  ///   - name: The path of the script below `Tests/Fixtures`.
  ///   - words: The arguments.
  ///   - log: The path of a file for the output. The services that a script starts would keep a pipe open.
  /// - Returns: The output and the exit status.
  static func run(
    _ name: String, _ words: [String], log: String
  ) -> (text: String, status: Int32) {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    let script = parts.dropLast(2).joined(separator: "/") + "/Fixtures/" + name
    let text = ([script] + words).map { "'\($0)'" }.joined(separator: " ")
    return output("\(text) >'\(log)' 2>&1; s=$?; cat '\(log)'; exit $s")
  }

  /// Runs a shell text, and returns its output and its exit status.
  static func output(_ text: String) -> (text: String, status: Int32) {
    guard let stream = popen(text, "r") else { return ("", -1) }
    var output: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&bytes, 1, bytes.count, stream)
      if count == 0 { break }
      output += bytes[..<count]
    }
    return (String(decoding: output, as: UTF8.self), pclose(stream))
  }
}
