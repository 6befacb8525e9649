// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
package import JobFiles

/// The variables of the environment on which the commands of a run depend. The directory of a run contains only hashes
/// of their values.
package enum RunVariables {
  /// Returns the hashes of the values of all variables that a command names and that the file does not set.
  ///
  /// - Parameters:
  ///   - plan: The plan with the commands.
  ///   - value: A closure that returns the value of a variable, or `nil` if it is not set; by default in the
  ///     environment of this process.
  /// - Returns: A hash for each variable by its name; an empty text if the variable is not set.
  package static func hashes(
    of plan: JobPlan, value: (String) -> String? = { environmentValue(of: $0) }
  ) -> [String: String] {
    let shared = Set(plan.environment.map(\.name))
    var hashes: [String: String] = [:]
    for job in plan.jobs {
      forEachName(in: job.command) { name in
        guard hashes[name] == nil, !name.hasPrefix("OPQ_"), !shared.contains(name),
          !job.variables.contains(where: { $0.name == name })
        else { return }
        hashes[name] = hash(of: value(name))
      }
    }
    return hashes
  }

  /// Returns a sentence about the variables whose values have changed since the creation of a run.
  ///
  /// - Parameters:
  ///   - earlier: The hashes of the values at the creation of the run.
  ///   - current: The hashes of the present values.
  /// - Returns: A sentence with the names of the variables; `nil` if no variable that is in both has changed.
  package static func change(
    from earlier: [String: String], to current: [String: String]
  ) -> String? {
    let names = current.keys.filter { earlier[$0] != nil && earlier[$0] != current[$0] }.sorted()
    guard let last = names.last else { return nil }
    guard names.count > 1 else {
      return "the variable \(last) has another value than at the start of the run"
    }
    // The names consist of letters, digits and underscores.
    let shown = names.prefix(10).joined(separator: ", ")
    let rest = names.count > 10 ? " and \(names.count - 10) more" : ""
    return "the variables \(shown)\(rest) have other values than at the start of the run"
  }

  /// Returns the value of a variable in the environment of this process; `nil` if it is not set.
  package static func environmentValue(of name: String) -> String? {
    cmonitor_environment(name).map { String(cString: $0) }
  }

  private static func hash(of value: String?) -> String {
    guard let value else { return "" }
    var hash = ShortHash()
    hash.combine(value.utf8)
    return hash.text
  }

  /// Calls a closure with each name after a `$`, as in `$NAME`, `${NAME}` or `${NAME:-value}`. A name in single quotes
  /// is also found, because a command can pass it to another shell.
  private static func forEachName(in command: String, _ body: (String) -> Void) {
    let bytes = Array(command.utf8)
    var position = 0
    while let dollar = bytes[position...].firstIndex(of: UInt8(ascii: "$")) {
      position = dollar + 1
      guard position < bytes.count else { return }
      // The shell replaces `$$` by its process id.
      if bytes[position] == UInt8(ascii: "$") { position += 1 }
      if bytes[dollar + 1] == UInt8(ascii: "{") {
        position += 1
        // `${#NAME}` is the length of the value, and `${!NAME}` is the value of another variable.
        if position < bytes.count, [UInt8(ascii: "#"), UInt8(ascii: "!")].contains(bytes[position])
        {
          position += 1
        }
      }
      guard bytes[dollar + 1] != UInt8(ascii: "$"), position < bytes.count,
        isLetter(bytes[position])
      else { continue }
      let name = bytes[position...].prefix { isLetter($0) || isDigit($0) }
      position += name.count
      body(String(decoding: name, as: UTF8.self))
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
