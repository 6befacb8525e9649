// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// What a shim must know about the environment of its command.
struct ShimEnvironment {
  /// The name of a variable for the script. No variable of the environment has a name that begins with it.
  let variable: String
  /// The variables that a shell would not pass to the command as they are, as entries `NAME=VALUE`. Each entry has the
  /// name of a variable that can contain it.
  ///
  /// Some shells, such as dash, do not pass variables whose names are no names of shell variables, such as functions
  /// that bash has exported. Bash changes the variable `SHELLOPTS` when the shim resets options.
  let foreign: [(variable: String, entry: String)]

  /// Examines the environment with which a command begins.
  init(of command: Command) {
    let environment = command.wholeEnvironment
    var variable = "opq_shim"
    while environment.keys.contains(where: { $0.hasPrefix(variable) }) { variable += "_" }
    self.variable = variable
    let foreign = environment.filter {
      $0.key == "SHELLOPTS" || !$0.key.isEmpty && !Self.isShellName($0.key)
    }
    self.foreign = foreign.sorted { $0.key < $1.key }.enumerated().map { number, entry in
      ("\(variable)\(number)", "\(entry.key)=\(entry.value)")
    }
  }

  /// Returns whether a shell variable can have a name.
  static func isShellName(_ name: String) -> Bool {
    let bytes = name.utf8
    func isLetter(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    return bytes.first.map(isLetter) == true && bytes.allSatisfy { isLetter($0) || isDigit($0) }
  }
}

extension Command {
  /// The variables with which the command begins.
  fileprivate var wholeEnvironment: [String: String] {
    var all: [String: String] = [:]
    if inheritsEnvironment {
      var index = 0
      while let entry = csystem_environment_entry(index) {
        index += 1
        let text = String(cString: entry)
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
        all[String(text[..<equals])] = String(text[text.utf8.index(after: equals)...])
      }
    }
    for (name, value) in environment { all[name] = value }
    return all
  }
}
