// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CMonitorSystem
import MonitorClient
import MonitorProtocol
import Synchronization

/// `opq-top relay`: forwards messages between a viewer on another machine and the processes of this one.
struct RelayCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "Forwards messages between opq-top on another machine and processes of this one.",
    discussion: """
      opq-top starts this command on another machine or in a container, and exchanges messages with it through its \
      standard input and output. The command connects only to the sockets of processes. It ends when its input ends, \
      or when it receives nothing for a minute. Without an argument, it forwards messages of all processes of this \
      user that listen. Exits with 1 if a message of the viewer is not valid or none arrives for a minute, and with 2 \
      if its input or output is a terminal.
      """
        + Examples.help("relay"))

  @Argument(
    help: ArgumentHelp(
      "The ids of processes or the paths of sockets.", valueName: "pid|socket"))
  var targets: [String] = []

  @Option(
    help: ArgumentHelp(
      "Wait until this process listens. It need not exist yet.", valueName: "pid"))
  var wait: Int32?

  @Option(
    help: ArgumentHelp(
      "Use the process that runs the jobs of this run.", valueName: "run"))
  var run: String?

  @OptionGroup var runs: RunPlaceOptions

  func validate() throws {
    guard [!targets.isEmpty, wait != nil, run != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("use only one of processes, --wait and --run")
    }
    if let wait, wait < 1 {
      throw ValidationError("\"\(wait)\" is not a process id (a number from 1)")
    }
    if let wrong = targets.first(where: { AttachTarget($0) == nil }) {
      throw ValidationError("\"\(wrong)\" is not a process id (a number from 1)")
    }
    if runs.state != nil, run == nil { throw ValidationError("--state needs --run") }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    let (input, output) = (cmonitor_standard_input, StandardStream.output)
    guard !cmonitor_is_terminal(input), !output.isTerminal else {
      return Program.fail(
        "\"opq-top relay\" cannot use a terminal; opq-top on another machine starts it")
    }
    switch Relay(input: input, output: output.rawValue, find: finder).run() {
    case .inputEnded: return .status(0)
    case .failed(let reason): return Program.fail(reason, status: 1)
    }
  }

  /// A function that returns the processes, or `nil` if it must be called again later.
  private var finder: @Sendable () -> [RelayTarget]? {
    if let wait {
      let state = Mutex(AwaitedTarget(processID: wait))
      return {
        var target = state.withLock { $0 }
        defer { state.withLock { $0 = target } }
        return target.find().map { [$0] }
      }
    }
    if let run {
      let found = Result { try FoundRun(run, in: runs) }
      return { [Self.target(of: found)] }
    }
    let named = targets.compactMap { AttachTarget($0) }
    if named.isEmpty { return { RelayTarget.all } }
    return { named.map { RelayTarget($0) } }
  }

  /// Finds the process that runs the jobs of a run. If the process does not listen yet, waits for a short time.
  private static func target(of run: Result<FoundRun, any Error>) -> RelayTarget {
    do {
      let path = try run.get().socket { cmonitor_sleep(20_000_000) }
      return RelayTarget(path: path)
    } catch {
      return RelayTarget(
        processID: 0, error as? AttachError ?? AttachError(.nothingThere, "\(error)"))
    }
  }
}
