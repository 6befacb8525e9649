// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol
import MonitorTransport

/// A process or socket that the user names on the command line.
package enum AttachTarget: Equatable, Sendable {
  /// The target is the process with this id.
  case process(Int32)
  /// The target is the process that listens at this path.
  case socket(String)

  /// Creates a target from an argument. A number is a process id, and any other text is a path. The
  /// result is `nil` if the number is not a valid process id.
  package init?(_ argument: String) {
    if argument.allSatisfy({ $0.isASCII && $0.isNumber }) {
      guard let process = Int32(argument), process > 0 else { return nil }
      self = .process(process)
    } else {
      self = .socket(argument)
    }
  }

  /// Returns the path of the target's socket.
  ///
  /// - Throws: ``AttachError`` if the process has no socket, or if its socket cannot be trusted.
  package func path() throws(AttachError) -> String {
    switch self {
    case .socket(let path): path
    case .process(let process): try Self.path(of: process)
    }
  }

  private static func path(of process: Int32) throws(AttachError) -> String {
    var status = cmonitor_file_status()
    guard ProcessStart(of: process) != nil,
      cmonitor_read_status("/proc/\(process)", true, &status) == 0
    else {
      throw AttachError(.nothingThere, "there is no process \(process)")
    }
    guard [status.owner, 0].contains(cmonitor_user_id()) else {
      throw AttachError(.denied, "process \(process) belongs to another user")
    }
    for directory in MonitorDirectory.candidates(of: status.owner) {
      let names = directory.fileNames.lazy.filter { $0.hasSuffix(".sock") }
      guard
        let fileName = names.first(where: { fileName in
          let name = MonitorSocketName(fileName: fileName)
          return name?.processID == process && name?.isAlive == true
        })
      else { continue }
      do throws(MonitorDirectoryError) {
        try directory.check(owner: status.owner)
      } catch {
        throw AttachError(.denied, "\(error)")
      }
      return directory.path(of: fileName)
    }
    throw AttachError(
      .nothingThere,
      """
      process \(process) is not monitored; start it with OPQ_MONITOR=rw, or call \
      OperationMonitor.listen() in it
      """)
  }
}

extension AttachTarget: CustomStringConvertible {
  /// The text that names the target in a message to the user: the process id or the path.
  package var description: String {
    switch self {
    case .process(let process): "process \(process)"
    case .socket(let path): path
    }
  }

  /// Calls a closure. If it throws an `AttachError`, adds the name of the target to the error's
  /// description.
  package func naming<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as AttachError where !error.description.contains(description) {
      throw AttachError(error.kind, "\(self): \(error.description)")
    }
  }
}
