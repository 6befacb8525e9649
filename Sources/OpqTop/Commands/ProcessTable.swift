// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// Formats the processes that can be watched as text, with one line for each process.
enum ProcessTable {
  /// Returns the message for the case that no process can be watched.
  ///
  /// - Parameter place: The machine of the search; `nil` for this machine.
  /// - Returns: The message.
  static func emptyMessage(on place: RemotePlace?) -> String {
    let words = place.map { " on \($0.name)" } ?? ""
    return """
      no monitored process found\(words); start one with OPQ_MONITOR=rw, or call OperationMonitor.listen()
      """
  }

  /// Returns the message for the case that several processes listen and none is selected.
  ///
  /// - Parameters:
  ///   - found: The processes.
  ///   - place: The machine on which they were found; `nil` for this machine.
  /// - Returns: The message.
  static func choiceMessage(_ found: [ProcessFinder.Found], on place: RemotePlace?) -> String {
    let words = place.map { " on \($0.name)" } ?? ""
    let ids = found.map { "\($0.processID)" }.joined(separator: ", ")
    return "several processes are monitored\(words); choose one with -p: \(ids)"
  }

  /// Returns a header and a line for each process. The text contains no escape sequences, even if
  /// the names of processes do.
  static func text(of found: [ProcessFinder.Found]) -> String {
    var table = TextTable(
      [
        .init(title: "PID", width: 0, isRightAligned: true), .init(title: "PROGRAM", width: 0),
        .init(title: "UPTIME", width: 0, isRightAligned: true),
        .init(title: "OPS", width: 0, isRightAligned: true), .init(title: "MODE", width: 0),
        .init(title: "PROTO", width: 0), .init(title: "", width: 0),
      ], isUnicode: true, gap: 2)
    for process in found { table.add(cells(of: process)) }
    return table.lines.map { "\($0)\n" }.joined()
  }

  private static func cells(of found: ProcessFinder.Found) -> [String] {
    switch found.answer {
    case .failure(let error):
      return ["\(found.processID)", "-", "-", "-", "-", "-", "\(error)"]
    case .success(let greeting):
      let hello = greeting.hello
      return [
        "\(found.processID)", hello.processName,
        TimeText.duration(hello.anchor - hello.processStarted), "\(hello.totalCount)",
        hello.isReadOnly ? "ro" : "rw", "\(greeting.versions)", "",
      ]
    }
  }
}

/// The output of `ls --json`, which `Scripting.md` documents for users.
struct ProcessListing: Encodable {
  /// A process that listens.
  struct Process: Encodable {
    let pid: Int32
    /// The other machine on which the process runs, as the command line names it; `nil` for this machine.
    let host: String?
    /// The path of the socket of the process.
    let socket: String
    /// The program's name; `nil` if the process has sent no greeting.
    let name: String?
    /// The time in seconds since the process started; `nil` if the process has sent no greeting.
    let uptimeSeconds: Double?
    /// The number of operations that were added to the existing queues; `nil` if the process has sent no
    /// greeting.
    let totalCount: Int?
    /// Whether the process refuses commands; `nil` if the process has sent no greeting.
    let isReadOnly: Bool?
    /// The version of the protocol; `nil` if the process has sent no greeting.
    let protocolVersion: String?
    /// The reason why no viewer can attach to the process; `nil` if a viewer can attach.
    let error: String?
  }

  let schema = "opq.ls/1"
  let processes: [Process]

  /// Creates the output for the processes that were found on a machine, by default on this one.
  init(_ found: [ProcessFinder.Found], on place: RemotePlace? = nil) {
    processes = found.map { Process($0, on: place) }
  }
}

extension ProcessListing.Process {
  init(_ found: ProcessFinder.Found, on place: RemotePlace?) {
    let greeting = try? found.answer.get()
    let error: String? = if case .failure(let error) = found.answer { "\(error)" } else { nil }
    self.init(
      pid: found.processID, host: place?.name, socket: found.path,
      name: greeting?.hello.processName,
      uptimeSeconds: greeting.map { greeting in
        let uptime = max(.zero, greeting.hello.anchor - greeting.hello.processStarted)
        return (uptime / .milliseconds(1)).rounded(.down) / 1_000
      },
      totalCount: greeting?.hello.totalCount, isReadOnly: greeting?.hello.isReadOnly,
      protocolVersion: greeting.map { "\($0.versions)" }, error: error)
  }
}
