// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorClient
import MonitorProtocol

/// `opq-top attach`: shows another process.
struct AttachCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Shows the queues of another process.",
    discussion: """
      The process must belong to the same user, and must listen: start it with OPQ_MONITOR=ro or \
      OPQ_MONITOR=rw in its environment, or call OperationMonitor.listen() in it. "opq-top ls" lists these \
      processes. Without an argument, opq-top attaches to the only one, or offers a list. With several \
      arguments, it shows the processes as one, with a table of the processes and their totals. \
      Sockets are in the directory opq below XDG_RUNTIME_DIR, or in /tmp if that is not set. If \
      OPQ_SOCKET_DIRECTORY is set for both programs, they use only that directory. \
      With HOST:PID, -H or --via, the process runs on another machine, which needs opq-top; see Machines.md. \
      "opq-top attach slurm" shows your jobs of a Slurm cluster, with Slurm's commands on this machine, and "opq-top \
      attach slurm:LOGIN" through ssh; see Clusters.md. \
      The process continues when opq-top ends. Exits with 1 if the process does not answer, or, with \
      --batch, when it ends; with 3 if no process listens; with 4 if the process uses another version of the \
      protocol; with 5 if access is denied. With several processes, exits when the last one has ended. \
      With --run, the dashboard prints at its end what "opq-top run" prints. The exit statuses are the same, but after \
      a signal, opq-top ends by this signal.
      "opq-top attach [options] -- COMMAND" starts a command; see "opq-top --help".
      """
        + Examples.help("attach"))

  @Argument(
    help: ArgumentHelp(
      """
      The ids of processes or the paths of sockets, at most \(ProcessReport.numbers.count). HOST:PID is a process of \
      another machine.
      """, valueName: "pid|host:pid|socket"))
  var targets: [String] = []

  @OptionGroup var options: TargetOptions
  @OptionGroup var runs: RunPlaceOptions
  @OptionGroup var slurm: SlurmOptions
  @OptionGroup var view: ViewOptions
  @OptionGroup var recording: RecordingOptions

  func validate() throws {
    try runs.check(options)
    if try slurmPlace() != nil { return }
    guard let first = targets.first else { return }
    guard !options.isGiven else {
      throw ValidationError("\(first) cannot be combined with \(TargetOptions.words)")
    }
    let named = try placedTargets()
    for (index, target) in named.enumerated() where named[..<index].contains(target) {
      throw ValidationError("\(targets[index]) is given twice")
    }
    guard targets.count > 1 else { return }
    guard targets.count <= ProcessReport.numbers.count else {
      throw ValidationError(
        "at most \(ProcessReport.numbers.count) processes can be shown at once")
    }
    if recording.record != nil {
      throw ValidationError("--record needs exactly one process, not \(targets.count)")
    }
  }

  private func placedTargets() throws -> [PlacedTarget] {
    try targets.map { try PlacedTarget($0, options.machine) }
  }

  /// Returns the place of Slurm that the argument names; `nil` if the arguments name processes.
  private func slurmPlace() throws -> SlurmPlace? {
    let place = try slurm.place(
      targets, isOtherGiven: options.isGiven, records: recording.record != nil)
    if let place, options.machine.isGiven {
      throw ValidationError("\(place.argument) cannot be combined with \(MachineOptions.words)")
    }
    return place
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    if let place = try? slurmPlace() {
      return SlurmAttachment(place: place, users: slurm.users, view: view).ending()
    }
    do {
      return Attachment(
        targets: try placedTargets(), options: options, runs: runs, view: view,
        recording: recording
      ).ending { Program.fail(AttachError(.nothingThere, ProcessTable.emptyMessage(on: nil))) }
    } catch {
      return Program.fail(error)
    }
  }
}
