// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorTransport

/// Finds the processes of a command that listen for viewers. This process has started the command.
///
/// The command may be a script, or start the program that listens as another process. Therefore the search compares
/// an environment variable, which all processes of the command inherit, and not process ids.
package struct ListenerSearch: Sendable {
  private let viewer: LaunchingViewer
  private let places: MonitorPlaces
  /// The paths of the sockets that were compared already.
  private var known: Set<String> = []

  /// Creates a search that has found nothing yet; `nil` if the system does not report the start time of this
  /// process.
  package init?() {
    guard let viewer = LaunchingViewer.current else { return nil }
    self.init(viewer: viewer, in: .ofEnvironment)
  }

  init(viewer: LaunchingViewer, in places: MonitorPlaces) {
    self.viewer = viewer
    self.places = places
  }

  /// Returns the environment of the command: that of this process, with the variables by which the command
  /// listens and waits for this viewer. If the user has set `OPQ_MONITOR` to a valid value, it does not change.
  ///
  /// - Parameter isReadOnly: Whether the command permits viewers only to watch.
  /// - Returns: The entries `NAME=value`.
  package func environment(isReadOnly: Bool) -> [[UInt8]] {
    Self.environment(
      ProcessEnvironment.entries(of: csystem_process_id()) ?? [], viewer: viewer,
      isReadOnly: isReadOnly)
  }

  static func environment(
    _ entries: [[UInt8]], viewer: LaunchingViewer, isReadOnly: Bool
  ) -> [[UInt8]] {
    let isModeSet = ["ro", "rw"].contains { entries.contains(Array("OPQ_MONITOR=\($0)".utf8)) }
    let replaced = [LaunchingViewer.variable] + (isModeSet ? [] : ["OPQ_MONITOR"])
    let kept = entries.filter { entry in !replaced.contains { entry.starts(with: "\($0)=".utf8) } }
    let mode = isModeSet ? [] : ["OPQ_MONITOR=\(isReadOnly ? "ro" : "rw")"]
    return kept + ([viewer.entry] + mode).map { Array($0.utf8) }
  }

  /// Returns the paths of the sockets of the command's processes that began to listen after the last call.
  package mutating func findNew() -> [String] {
    var paths: [String] = []
    for directory in MonitorDirectory.candidates(in: places) where (try? directory.check()) != nil {
      for fileName in directory.fileNames where fileName.hasSuffix(".sock") {
        let path = directory.path(of: fileName)
        guard known.insert(path).inserted, let name = MonitorSocketName(fileName: fileName),
          name.isAlive, viewer.hasStarted(name.processID)
        else { continue }
        paths.append(path)
      }
    }
    return paths
  }

  /// Makes ``findNew()`` return a path once more if the process still exists, because the process could not be
  /// watched yet.
  package mutating func forget(_ path: String) { known.remove(path) }

  /// Connects to a process and disconnects at once, so that the process does not wait for this viewer.
  ///
  /// - Returns: Whether the process listened or has ended. A new socket exists for a moment before its process
  ///   listens.
  package static func release(_ path: String) -> Bool {
    if MonitorDirectory.touch(path) { return true }
    let fileName = String(path.split(separator: "/").last ?? "")
    return MonitorSocketName(fileName: fileName)?.isAlive != true
  }
}
