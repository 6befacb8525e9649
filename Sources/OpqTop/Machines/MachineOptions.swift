// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient

/// The options that select the machine whose processes are watched.
struct MachineOptions: ParsableArguments {
  // Without `unconditional`, the parser would report a host that begins with "-" as a missing value.
  @Option(
    name: [.customShort("H"), .long], parsing: .unconditional,
    help: ArgumentHelp(
      "Watch processes of this host through ssh. The host needs opq-top.", valueName: "host"))
  var host: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      Watch processes of the container or machine on which this command executes programs, such as \
      "docker exec -i web" or "kubectl exec -i pod --". It needs opq-top.
      """, valueName: "command"))
  var via: String?

  /// The options, for messages.
  static let words = "--host or --via"

  /// Whether the options select another machine.
  var isGiven: Bool { host != nil || via != nil }

  /// Returns the other machine that the options select; `nil` for this machine.
  ///
  /// - Throws: `ValidationError` if the host or the command is not valid.
  func place() throws -> RemotePlace? {
    if let via {
      guard via.contains(where: { !$0.isWhitespace }) else {
        throw ValidationError("--via needs a command")
      }
      return try RemotePlace(checkingCommand: via)
    }
    return try host.map { try RemotePlace(checking: $0) }
  }

  func validate() throws {
    if host != nil, via != nil { throw ValidationError("use only one of --host and --via") }
    _ = try place()
  }
}

extension RemotePlace {
  /// Creates the place of a host from the command line.
  ///
  /// - Throws: `ValidationError` if the text is not a valid name of a host.
  init(checking host: String) throws {
    do throws(AttachError) {
      self = try .host(host)
    } catch {
      throw ValidationError(error.description)
    }
  }

  /// Creates the place of a command from the command line.
  ///
  /// - Throws: `ValidationError` if the text is not one command that could execute the words after it.
  init(checkingCommand text: String) throws {
    self = .command(text)
    do throws(AttachError) {
      _ = try command(arguments: [])
    } catch {
      throw ValidationError(error.description)
    }
  }
}
