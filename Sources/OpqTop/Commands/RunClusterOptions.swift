// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobRun

/// The options of `opq-top run` that select a cluster.
struct RunClusterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Run the commands on a Slurm cluster: slurm, slurm:LOGIN or slurm:LOGIN:DIRECTORY. (default: this machine)
      """, valueName: "place"))
  var on: ClusterPlace?

  @Option(
    help: ArgumentHelp(
      "With --on: the time between two calls of squeue, at least 1s. (default: 10s)",
      valueName: "time"))
  var poll: Interval?

  func validate() throws {
    guard let poll else { return }
    if on == nil { throw ValidationError("--poll needs --on") }
    if poll.duration < .seconds(1) { throw ValidationError("--poll needs a time of at least 1s") }
  }

  /// The cluster; `nil` for this machine.
  var cluster: RunCluster? {
    var cluster = on?.cluster
    if let poll { cluster?.pollInterval = poll.duration }
    return cluster
  }
}

/// A cluster on the command line, such as `slurm:login`.
struct ClusterPlace: ExpressibleByArgument, Equatable {
  let cluster: RunCluster

  /// Parses a place; `nil` if the text is not a place.
  init?(argument: String) {
    guard let cluster = RunCluster(argument) else { return nil }
    self.cluster = cluster
  }
}
