// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A job file whose jobs run on the cluster of the suite.
final class ClusterScene {
  let nodes: SlurmNodes
  let stored: StoredRunScene
  /// The options that select the cluster.
  let place: [String]

  /// Creates a scene.
  ///
  /// - Parameters:
  ///   - jobs: The lines below the key `jobs`.
  ///   - head: The lines above the key `jobs`.
  ///   - place: The value of `--on`.
  /// - Throws: The error of a system call.
  init(_ jobs: String, head: String = "", on place: String = "slurm") throws {
    nodes = try #require(OnSlurm.nodes)
    stored = try StoredRunScene(jobs, head: head)
    self.place = ["--on", place, "--poll", "1s"]
  }

  deinit {
    // Jobs of an earlier test that failed could fill the nodes.
    nodes.shell("scancel -u \"$(id -u)\"")
  }

  /// The variables of the program.
  var environment: [String] { Array(nodes.prefix.dropFirst()) }

  /// Starts a new run without a terminal.
  func start(_ arguments: [String] = [], environment: [String] = []) throws -> StartedProgram {
    try stored.start(
      ["run", "--batch", stored.file] + place + arguments,
      environment: self.environment + environment)
  }

  /// Resumes the run without a terminal.
  func resume(environment: [String] = []) throws -> StartedProgram {
    try stored.start(
      ["run", "--resume", "--batch"], environment: self.environment + environment)
  }

  /// Runs all jobs to their end.
  func run(_ arguments: [String] = []) throws -> StartedProgram {
    let program = try start(arguments)
    program.end(within: 120)
    return program
  }

  /// The lines of `squeue` in a format.
  func squeue(_ format: String, states: String = "all") -> [String] {
    nodes.shell("squeue -h -t \(states) -o '\(format)'").split(separator: "\n").map { String($0) }
  }

  /// A shell text that writes the name of the job at the start and at the end of its work.
  static func noted(_ work: String = "sleep 0.2") -> String {
    #"echo "+$OPQ_JOB $SLURMD_NODENAME" >> "$DIR/ran"; \#(work); echo "-$OPQ_JOB" >> "$DIR/ran""#
  }
}

extension SSHServer {
  /// Starts a server whose sessions use a cluster.
  convenience init(for nodes: SlurmNodes) throws { try self.init(Array(nodes.prefix.dropFirst())) }

  /// The variable with which a program calls the `ssh` that knows this server.
  var programPath: String { "PATH=\(programs):/usr/bin:/bin" }
}

extension StoredRunScene {
  /// Writes a program to the folder `bin` of the scene, which ``programPath`` makes the first folder of programs.
  func writeProgram(_ name: String, _ text: String) {
    let folder = scene.file("bin")
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    TestProgram.write(text, to: "\(folder)/\(name)")
  }

  /// The variable with the folder `bin` of the scene before the usual folders.
  var programPath: String { "PATH=\(scene.file("bin")):/usr/sbin:/usr/bin:/sbin:/bin" }
}
