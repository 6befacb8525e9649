// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient

/// A process or socket that the command line names, and its machine.
struct PlacedTarget: Equatable, Sendable {
  /// The process or socket, as its machine names it.
  let target: AttachTarget
  /// The other machine; `nil` for this machine.
  let place: RemotePlace?

  /// Creates a target from an argument.
  ///
  /// Text with a slash is a path, and a number is a process id. Text with a colon is a host and a process id, which the
  /// last colon separates. A host with a colon, which is an IPv6 address, must be in brackets. Any other text is a path.
  ///
  /// - Parameters:
  ///   - argument: The argument.
  ///   - options: The options for the machine.
  /// - Throws: `ValidationError` if a process id or a host is not valid, or if the argument and the options both name a
  ///   machine.
  init(_ argument: String, _ options: MachineOptions) throws {
    guard !argument.contains("/"), let colon = argument.lastIndex(of: ":") else {
      guard let target = AttachTarget(argument) else {
        throw ValidationError("\"\(argument)\" is not a process id (a number from 1)")
      }
      (self.target, place) = (target, try options.place())
      return
    }
    let target = AttachTarget(String(argument[argument.index(after: colon)...]))
    guard let host = Self.host(argument[..<colon]), let target, case .process = target else {
      throw ValidationError(
        "\"\(argument)\" is not a host and a process id, such as web1:4711 or [::1]:4711")
    }
    if options.isGiven {
      throw ValidationError("\(argument) cannot be combined with \(MachineOptions.words)")
    }
    (self.target, place) = (target, try RemotePlace(checking: host))
  }

  /// Returns the host before a process id; `nil` if the text names no host.
  private static func host(_ text: Substring) -> String? {
    let name = text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text
    guard !name.isEmpty else { return nil }
    // Without brackets, the last part of an IPv6 address would be read as a process id.
    guard name.contains(":") || name.hasPrefix("[") else { return String(text) }
    return name.hasPrefix("[") && name.hasSuffix("]") && name.count > 2 ? String(text) : nil
  }

  /// Creates a target on the machine that options select.
  ///
  /// - Throws: `ValidationError` if the machine is not valid.
  init(_ target: AttachTarget, on options: MachineOptions) throws {
    (self.target, place) = (target, try options.place())
  }

  /// The argument with which `opq-top relay` finds the target on its machine.
  var relayArgument: String {
    switch target {
    case .process(let process): "\(process)"
    // The relay reads text with a slash as a path, and text that begins with a hyphen as an option.
    case .socket(let path): path.contains("/") && !path.hasPrefix("-") ? path : "./\(path)"
    }
  }
}

extension PlacedTarget: CustomStringConvertible {
  /// The text that names the target in a message to the user. It is unsanitised.
  var description: String { place.map { "\(target) on \($0.name)" } ?? "\(target)" }

  /// Calls a closure. If it throws an `AttachError`, adds the name of the target and of its machine to the error's
  /// description, unless the description contains them.
  func naming<Value>(_ body: () throws -> Value) throws -> Value {
    guard let place else { return try target.naming(body) }
    do {
      return try body()
    } catch let error as AttachError where !error.description.contains(place.name) {
      let name = error.description.contains("\(target)") ? place.name : description
      throw AttachError(error.kind, "\(name): \(error.description)")
    }
  }
}
