// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCore
import TestSupport
import Testing

@testable import OperationsCommands

/// A real Slurm cluster, and a queue.
struct SlurmScene {
  let nodes: SlurmNodes
  let cluster: SlurmCluster
  let queue = OperationQueue(name: "slurm", maxConcurrentOperationCount: 20)

  /// Creates a scene with the cluster of the suite, or with another one.
  init(
    _ nodes: SlurmNodes? = nil, directory: String = "of jobs", sharesFiles: Bool = true,
    before: [String] = [], wrapperLimit: Duration = SlurmWrapper.usualLimit
  ) throws {
    self.nodes = try #require(nodes ?? OnSlurm.nodes)
    cluster = SlurmCluster(
      directory: "\(self.nodes.work)/\(directory)", commandPrefix: before + self.nodes.prefix,
      sharesFiles: sharesFiles, pollInterval: .seconds(1), wrapperLimit: wrapperLimit)
  }

  /// Adds an operation for a command to the queue.
  func add(_ command: Command, _ resources: SlurmResources = SlurmResources()) -> CommandOperation {
    let operation = CommandOperation(command, on: .slurm(cluster, resources))
    queue.addOperation(operation)
    return operation
  }

  /// Adds an operation for a shell text to the queue.
  func add(shell text: String, _ resources: SlurmResources = SlurmResources()) -> CommandOperation {
    add(Command(shell: text), resources)
  }

  /// Runs a command that fails, and returns its error.
  func failure(
    of command: Command, _ resources: SlurmResources = SlurmResources()
  ) async -> CommandError? {
    do {
      _ = try await add(command, resources).value
      return nil
    } catch {
      return error as? CommandError
    }
  }

  /// Returns a path in the folder of the jobs.
  func file(_ name: String) -> String { "\(nodes.work)/\(name)" }

  /// Returns the lines of a file in the folder of the jobs.
  func lines(of name: String) -> [String] {
    contents(of: file(name)).split(separator: "\n").map { String($0) }
  }

  /// The number of calls that have asked for jobs since the statistics of the cluster were reset.
  var queueCalls: Int {
    nodes.shell("sdiag").split(separator: "\n").compactMap {
      $0.firstMatch(of: /REQUEST_JOB_(?:USER_INFO|INFO_SINGLE|INFO) .*count:([0-9]+)/)
        .flatMap { Int($0.1) }
    }.reduce(0, +)
  }

  /// Waits until a file in the folder of the jobs has a number of lines.
  func waitForLines(_ count: Int, in name: String) -> Bool {
    poll(for: .seconds(60), pausing: true) { lines(of: name).count >= count }
  }

  /// Waits until the status of an operation contains a text.
  func waitForStatus(_ text: String, of operation: Operation) -> Bool {
    poll(for: .seconds(60), pausing: true) { operation.reportedStatus?.contains(text) == true }
  }
}

extension Operation {
  /// The stored lines of the log.
  var storedLines: [String] {
    OperationLogStore.shared.lines(of: .operations([id]), in: 1...UInt64.max)
      .flatMap(\.lines).map(\.text)
  }
}
