// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorClient

/// The place where Slurm's commands are called: this machine, or a login node that is reached with `ssh`.
struct SlurmPlace: Sendable, Equatable {
  /// The login node, as `ssh` names it; `nil` for this machine.
  let login: String?

  /// Reads an argument of the command line; `nil` if it does not name Slurm. The word `slurm` always means Slurm.
  ///
  /// - Parameter argument: The argument, such as `slurm` or `slurm:login1`.
  /// - Throws: `ValidationError` if the login node is not a valid argument of `ssh`.
  init?(_ argument: String) throws {
    if argument == "slurm" {
      login = nil
      return
    }
    guard argument.hasPrefix("slurm:") else { return nil }
    let login = String(argument.dropFirst("slurm:".count))
    guard !login.isEmpty else {
      throw ValidationError("\"slurm:\" needs a login node, such as slurm:login1")
    }
    guard !login.hasPrefix("-") else {
      throw ValidationError("a login node must not begin with \"-\": \"\(login)\"")
    }
    let isValid = login.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0.properties.generalCategory != .control
    }
    guard isValid else {
      throw ValidationError("a login node must not contain white space: \"\(login)\"")
    }
    self.login = login
  }

  /// The words before each command of Slurm.
  var commandPrefix: [String] {
    login.map { RemotePlace.ssh + [$0] } ?? []
  }

  /// The beginning of a sentence about an error.
  var sentenceStart: String {
    login.map { "Slurm cannot be used on \($0)" } ?? "Slurm cannot be used"
  }

  /// The argument that names the place.
  var argument: String { login.map { "slurm:\($0)" } ?? "slurm" }
}
