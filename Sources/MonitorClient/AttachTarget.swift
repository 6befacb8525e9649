// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTransport

#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#endif

/// A process or socket that the user names on the command line.
package enum AttachTarget: Equatable {
  /// The target is the process with this id.
  case process(pid_t)
  /// The target is the process that listens at this path.
  case socket(String)

  /// Creates a target from an argument. A number is a process id, and any other text is a path. The
  /// result is `nil` if the number is not a valid process id.
  package init?(_ argument: String) {
    if argument.allSatisfy({ $0.isASCII && $0.isNumber }) {
      guard let process = pid_t(argument), process > 0 else { return nil }
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

  private static func path(of process: pid_t) throws(AttachError) -> String {
    var facts = stat()
    guard ProcessStart(of: process) != nil, stat("/proc/\(process)", &facts) == 0 else {
      throw AttachError(.nothingThere, "there is no process \(process)")
    }
    guard facts.st_uid == geteuid() || geteuid() == 0 else {
      throw AttachError(.denied, "process \(process) belongs to another user")
    }
    for directory in MonitorDirectory.candidates(of: facts.st_uid) {
      let names = directory.fileNames.lazy.filter { $0.hasSuffix(".sock") }
      guard
        let fileName = names.first(where: { fileName in
          let name = MonitorSocketName(fileName: fileName)
          return name?.processID == process && name?.isAlive == true
        })
      else { continue }
      do throws(MonitorDirectoryError) {
        try directory.check(owner: facts.st_uid)
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
