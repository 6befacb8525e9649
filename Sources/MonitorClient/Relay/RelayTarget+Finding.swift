// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import MonitorTransport

extension RelayTarget {
  /// Creates the target of a relay for a process or a socket that an argument names. If the process has no socket that
  /// can be trusted, the target has a refusal.
  package init(_ target: AttachTarget) {
    do throws(AttachError) {
      self.init(path: try target.path())
    } catch {
      switch target {
      case .process(let process): self.init(processID: process, error)
      case .socket: self.init(processID: 0, error)
      }
    }
  }

  /// Creates the target for a socket.
  package init(path: String) {
    self.init(processID: MonitorSocketName(path: path)?.processID ?? 0, path: path)
  }

  /// Creates a target to which the relay does not connect.
  ///
  /// - Parameters:
  ///   - processID: The id of the process; 0 if unknown.
  ///   - error: The reason.
  package init(processID: Int32, _ error: AttachError) {
    let hasEnded = processID != 0 && ProcessStart(of: processID) == nil
    self.init(
      processID: processID, path: "", refusal: RelayRefusal(error, hasProcessEnded: hasEnded))
  }

  /// The living processes of this user that have sockets, sorted by process id; at most
  /// ``WireLimits/mostRelayTargets``.
  package static var all: [RelayTarget] {
    let paths = ProcessFinder.sockets().map(\.path)
    // A crashed process can leave a socket, and another process can have the same id.
    let living = paths.filter { MonitorSocketName(path: $0)?.isAlive == true }
    return living.prefix(WireLimits.mostRelayTargets).map { path in
      var target = RelayTarget(path: path)
      target.isFound = true
      return target
    }
  }
}

extension RelayRefusal {
  /// Creates the reason for an error.
  init(_ error: AttachError, hasProcessEnded: Bool) {
    let cause: Cause =
      switch error.kind {
      case .nothingThere: .nothingThere
      case .denied: .denied
      case .lost, .versionMismatch, .crowded, .closed: .lost
      }
    self.init(cause, error.description, hasProcessEnded: hasProcessEnded)
  }
}

extension MonitorSocketName {
  /// Creates a name from the path of a socket; `nil` if it does not end with the name of a process's socket.
  init?(path: String) {
    guard let fileName = path.split(separator: "/").last else { return nil }
    self.init(fileName: String(fileName))
  }
}
