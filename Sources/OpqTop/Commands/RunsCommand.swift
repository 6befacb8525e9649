// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import COperationsSystem
import JobRun
import MonitorClient
import MonitorProtocol
import RunAnalysis

/// `opq-top runs`: lists the runs of job files, and deletes old ones.
struct RunsCommand: EndingCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs", abstract: "Lists the runs of job files, and deletes old ones.",
    discussion: """
      These are the runs in the directory .opq of the working directory, or in the directory of --state. A run is \
      starting before its process has begun, running while the process executes the jobs, and finished when all jobs \
      have ended; "finished, shown" means that a dashboard still shows it. A run is interrupted if its process has \
      ended before all jobs or a signal has ended the run, and damaged if its files cannot be read. The newest run is \
      last. Exits with 3 if there is no run; with --json, the list is then empty.

      --prune deletes runs with the output of their jobs, but no run that is starting or running, that a dashboard \
      shows, or one of whose commands still runs. It lists the runs and asks. Without a terminal, it needs --yes. \
      Exits with 1 if a run could not be deleted.
      """
        + Examples.help("runs"))

  @Flag(help: "Print the list as one line of JSON.")
  var json = false

  @Flag(help: "Print text with ASCII characters only.")
  var ascii = false

  @Flag(help: "Delete runs, after a question.")
  var prune = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --prune: delete only runs that began longer ago, such as 12h or 30d.",
      valueName: "duration"))
  var olderThan: Offset?

  @Flag(help: "With --prune: do not ask.")
  var yes = false

  @OptionGroup var runs: RunPlaceOptions

  func validate() throws {
    if !prune, olderThan != nil || yes {
      throw ValidationError("--older-than and --yes need --prune")
    }
    if prune, json { throw ValidationError("use only one of --prune and --json") }
  }

  /// Runs the command. Returns how the process must end: with an exit status or by a signal.
  func ending() -> Ending {
    do {
      let now = csystem_wall_nanoseconds()
      let summaries = try RunCatalog.summaries(in: runs.place)
      if prune { return try delete(from: summaries, at: now) }
      if json {
        try write(JSONLine.text(of: RunListing(summaries, at: now)))
      } else if !summaries.isEmpty {
        try write(RunTable.text(of: summaries, at: now, isUnicode: !ascii))
      }
      guard summaries.isEmpty else { return .status(0) }
      throw AttachError(.nothingThere, "there are no runs in \(runs.place.runs)")
    } catch {
      return Program.fail(error)
    }
  }

  private func delete(from summaries: [RunSummary], at now: Int64) throws -> Ending {
    let pruning = RunPruning(age: olderThan?.duration ?? .zero, now: now)
    let (deleted, kept) = pruning.choice(from: summaries)
    for run in kept { StandardStream.error.write(Program.errorLine(run.sentence)) }
    guard !deleted.isEmpty else {
      RunStore.deleteRemains(in: runs.place)
      try write("no run to delete\n")
      return .status(0)
    }
    let words = deleted.count == 1 ? "1 run" : "\(deleted.count) runs"
    if !yes {
      try write(RunTable.text(of: deleted, at: now, isUnicode: !ascii))
      guard Program.hasTerminal else {
        return Program.fail("nothing was deleted; without a terminal, --prune needs --yes")
      }
      guard RunPruning.asks("Delete \(words) with the output of their jobs?") else {
        try write("nothing was deleted\n")
        return .status(0)
      }
    }
    let result = RunPruning.delete(deleted)
    RunStore.deleteRemains(in: runs.place)
    try write("deleted \(result.count == deleted.count ? words : "\(result.count) of \(words)")\n")
    for failure in result.failures {
      StandardStream.error.write(Program.errorLine("\(failure)"))
    }
    return .status(result.failures.isEmpty ? 0 : 1)
  }

  /// Writes to standard output. If the reader has closed the output, the command continues.
  private func write(_ text: String) throws {
    let error = StandardStream.output.write(text)
    guard error != 0, error != StandardStream.brokenPipe else { return }
    throw FileError("cannot write to standard output", errno: error, status: 1)
  }
}
