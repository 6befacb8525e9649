// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Calls Slurm's commands: runs shell texts with the command prefix of a cluster, at most four at a time.
///
/// The calls are not operations of a queue, because a viewer would list them with the operations of the program.
final class SlurmCalls: Sendable {
  /// The number of calls at a time. A login node accepts few connections that begin at the same moment.
  private static let width = 4

  /// A call that runs.
  private struct Call {
    let events: CommandEvents
    let task: Task<CommandResult, any Error>
  }

  private struct State {
    var free = SlurmCalls.width
    var waiting: [CheckedContinuation<Void, Never>] = []
    var calls: [ObjectIdentifier: Call] = [:]
    var isStopped = false
  }

  private let prefix: [String]
  private let limit: Duration
  private let state = Locked(State())

  /// Creates calls with a command prefix.
  ///
  /// - Parameters:
  ///   - prefix: The words before each command.
  ///   - limit: The time after which a call counts as lost. A command of Slurm waits about 10 seconds for a controller.
  init(prefix: [String], limit: Duration = .seconds(120)) {
    self.prefix = prefix
    self.limit = limit
  }

  /// Returns a word that no output contains by chance.
  static func marker() -> String { "opq-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))" }

  /// Runs a text.
  ///
  /// - Parameter text: The text, for `/bin/sh`.
  /// - Returns: The standard output.
  /// - Throws: `SlurmCallFailure` if the text was not run to its end, for example because a connection was lost, or
  ///   because the calls were stopped.
  func run(_ text: String) async throws(SlurmCallFailure) -> [UInt8] {
    await enter()
    defer { leave() }
    let words = prefix + ["/bin/sh", "-s"]
    var command = Command(words[0], Array(words.dropFirst()))
    command.inputBytes = Array(text.utf8)
    command.output = .collected(limit: 1 << 28)
    command.errorOutput = .collected(limit: 1 << 12)
    command.gracePeriod = .seconds(1)
    let run = CommandRun(command, CommandReport(to: Operation()))
    guard let call = begin(run) else { throw Self.stopped }
    defer { end(run) }
    let timer = Task {
      try await Task.sleep(for: limit)
      run.events.note(.stop)
    }
    defer { timer.cancel() }
    do {
      return try await call.task.value.output
    } catch is CancellationError {
      if state.withLock({ $0.isStopped }) { throw Self.stopped }
      throw SlurmCallFailure(reason: "no answer within \(limit.components.seconds) seconds")
    } catch {
      throw SlurmCallFailure(reason: "\(error)")
    }
  }

  private static let stopped = SlurmCallFailure(reason: "the calls were stopped")

  /// Ends the calls that run, and returns when their processes have ended. Calls that wait and later calls fail, and
  /// start no process. This method can be called again.
  ///
  /// - Parameter gracePeriod: The time between SIGTERM and SIGKILL. A value above one second counts as one second.
  func stop(gracePeriod: Duration) async {
    let calls = state.withLock { state in
      state.isStopped = true
      return Array(state.calls.values)
    }
    for call in calls { call.events.note(.stop) }
    let timer = Task {
      try await Task.sleep(for: gracePeriod)
      for call in calls { call.events.note(.graceEnd) }
    }
    for call in calls { _ = try? await call.task.value }
    timer.cancel()
  }

  /// Starts a command; `nil` if the calls were stopped.
  private func begin(_ run: CommandRun) -> Call? {
    state.withLock { state in
      if state.isStopped { return nil }
      // The task of the caller may be cancelled. The call must run even then, because it may be the one that ends the
      // job.
      let call = Call(
        events: run.events,
        task: Task { try await run.result { await DirectRun(run: run).perform() } })
      state.calls[ObjectIdentifier(run)] = call
      return call
    }
  }

  private func end(_ run: CommandRun) {
    state.withLock { $0.calls[ObjectIdentifier(run)] = nil }
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
