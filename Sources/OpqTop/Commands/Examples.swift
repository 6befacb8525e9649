// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A command line that the help and the manual page show.
struct Example: Sendable {
  /// What the command line does, as words that end before a colon.
  let words: String
  /// The command line, as the user types it into a shell.
  let line: String

  /// Creates an example.
  ///
  /// - Parameters:
  ///   - words: What the command line does.
  ///   - line: The command line without the name of the program.
  init(_ words: String, _ line: String) {
    self.words = words
    self.line = line.isEmpty ? "opq-top" : "opq-top \(line)"
  }
}

/// The examples of each command.
enum Examples {
  /// Returns the examples of a command for the end of the overview in its help.
  ///
  /// - Parameter command: The name of the command; `opq-top` for the program without a command.
  /// - Returns: A heading, and two lines for each example.
  static func help(_ command: String) -> String {
    "\n\nEXAMPLES:\n" + of(command).map { "  \($0.words):\n    \($0.line)" }.joined(separator: "\n")
  }

  /// Returns the examples of a command.
  static func of(_ command: String) -> [Example] {
    all.first { $0.command == command }?.examples ?? []
  }

  /// The examples of all commands, in the order of the manual page. The first entry is the program without a command.
  static let all: [(command: String, examples: [Example])] = [
    (
      "opq-top",
      [
        Example("Show the process that listens, or the demo if there is none", ""),
        Example("Start a program, and show it from its first operation", "-- make test"),
        Example("Show a process, and send no commands to it", "-p 4711 --readonly"),
        Example("Show the queues first, and use the mouse", "--view queues --mouse"),
      ]
    ),
    (
      "attach",
      [
        Example("Show a process", "attach 4711"),
        Example(
          "Show two processes of a host and one of this machine", "attach web1:4711 web1:4712 99"),
        Example("Show a process when it begins to listen", "attach --wait 4711"),
        Example("Show your jobs of a Slurm cluster", "attach slurm:login"),
      ]
    ),
    (
      "ls",
      [
        Example("List the processes of this machine", "ls"),
        Example("List the processes of another machine, as JSON", "ls --json web1"),
        Example("List the processes in a container", "ls --via 'docker exec -i web'"),
      ]
    ),
    (
      "demo",
      [
        Example("Describe the demos", "demo --list"),
        Example("Show a demo with a deadlock", "demo deadlock"),
        Example("Print two frames of the demo", "demo --batch -n 2 -d 0.5"),
      ]
    ),
    (
      "record",
      [
        Example("Record a process for a minute", "record -p 4711 -o run.opq --for 60"),
        Example(
          "Run a program, and record it from its first operation", "record -o run.opq -- make test"),
      ]
    ),
    (
      "replay",
      [
        Example("Show a recording", "replay run.opq"),
        Example("Print a frame for each 10 seconds of a recording", "replay --batch -d 10 run.opq"),
      ]
    ),
    (
      "export",
      [
        Example(
          "Write a recording for Perfetto", "export run.opq --format chrome-trace -o run.json"),
        Example(
          "Print the operations of a queue as CSV",
          "export run.opq --format csv --filter queue:io"),
      ]
    ),
    (
      "report",
      [
        Example("Write a recording as a page for a browser", "report run.opq -o run.html"),
        Example("Replace the page", "report run.opq -o run.html --force"),
      ]
    ),
    (
      "run",
      [
        Example("Print what would run", "run --dry-run jobs.yaml"),
        Example("Run at most four jobs of each queue at a time", "run -j 4 jobs.yaml"),
        Example("Resume the run that was interrupted", "run --resume"),
        Example("Run each line of a file as a command", "run --lines commands.txt"),
      ]
    ),
    (
      "runs",
      [
        Example("List the runs", "runs"),
        Example("Delete the runs that are older than a week", "runs --prune --older-than 7d"),
      ]
    ),
    (
      "retry",
      [
        Example("Retry a job of the newest run", "retry merge"),
        Example("Retry two jobs of another run", "retry --run 20261128 'align[1]' 'align[2]'"),
      ]
    ),
    (
      "relay",
      [
        Example("Forward messages of all processes", "relay"),
        Example("Forward messages of two processes", "relay 4711 4712"),
      ]
    ),
    (
      "why",
      [
        Example("Explain why an operation does not run", "why 1042"),
        Example(
          "Explain it for a moment of a recording", "why --recording run.opq --at 12.5s 1042"),
      ]
    ),
    (
      "tree",
      [
        Example("Print what an operation waits for", "tree 1042"),
        Example("Print what waits for an operation", "tree --dependents 1042"),
      ]
    ),
    (
      "log",
      [
        Example("Print what an operation has logged", "log 1042"),
        Example("Follow the output of a job", "log -f --run 20261128 'align[2]'"),
      ]
    ),
    (
      "wait",
      [
        Example("Wait until two operations are over", "wait 1042 1043"),
        Example(
          "Wait at most 30 seconds until an operation is cancelled",
          "wait --state cancelled --timeout 30 1042"),
      ]
    ),
    (
      "cancel",
      [
        Example("Cancel two operations", "cancel 1042 1043"),
        Example(
          "Cancel an operation and all that depend on it", "cancel -p 4711 --with-dependents 1042"),
      ]
    ),
    (
      "suspend",
      [
        Example("Suspend a queue", "suspend io"),
        Example("Suspend a queue of a process", "suspend -p 4711 io"),
      ]
    ),
    (
      "resume",
      [
        Example("Resume a queue", "resume io"),
        Example("Resume a queue of a process", "resume -p 4711 io"),
      ]
    ),
  ]
}
