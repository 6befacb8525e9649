// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import OperationsCommands

/// The options that select jobs of Slurm.
struct SlurmOptions: ParsableArguments {
  @Option(
    name: .customLong("user"),
    help: ArgumentHelp(
      "With slurm: show the jobs of this user, or of several users, separated by commas.",
      valueName: "name"))
  var user: String?

  @Flag(name: .customLong("all"), help: "With slurm: show the jobs of all users.")
  var showsAll = false

  /// The users whose jobs are shown.
  var users: SlurmWatch.Users { showsAll ? .all : user.map { .named($0) } ?? .own }

  /// Returns the place of Slurm that arguments name; `nil` if they name processes.
  ///
  /// - Parameters:
  ///   - targets: The arguments.
  ///   - isOtherGiven: Whether options select a process.
  ///   - records: Whether the source is recorded.
  /// - Returns: The place.
  /// - Throws: `ValidationError` if the arguments and the options cannot be combined.
  func place(_ targets: [String], isOtherGiven: Bool, records: Bool) throws -> SlurmPlace? {
    let places = try targets.compactMap { try SlurmPlace($0) }
    guard let place = places.first else {
      if showsAll || user != nil { throw ValidationError("--user and --all need slurm") }
      return nil
    }
    if targets.count > 1 {
      throw ValidationError("\(place.argument) cannot be shown together with others")
    }
    if isOtherGiven {
      throw ValidationError("\(place.argument) cannot be combined with \(TargetOptions.allWords)")
    }
    if records { throw ValidationError("jobs of Slurm cannot be recorded") }
    if showsAll, user != nil { throw ValidationError("use only one of --user and --all") }
    if let user, user.isEmpty || user.hasPrefix("-") {
      throw ValidationError("\"\(user)\" is not the name of a user")
    }
    return place
  }
}
