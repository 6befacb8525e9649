// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Where the directories of sockets are to be looked for, and made.
package struct MonitorPlaces: Sendable {
  /// The directory of sockets, and the only one: for a container that shares it, and for tests, which
  /// must not meet the processes of who runs them. `nil` for the usual places.
  package var only: String?
  /// The directory that the system has made for what runs; `nil` where there is none.
  package var runtimePath: String?
  /// What everybody may write to.
  package var sharedPath = "/tmp"

  /// What the variables `OPQ_SOCKET_DIRECTORY` and `XDG_RUNTIME_DIR` say, where they say an absolute
  /// path.
  package static var ofEnvironment: MonitorPlaces {
    MonitorPlaces(
      only: absolutePath("OPQ_SOCKET_DIRECTORY"), runtimePath: absolutePath("XDG_RUNTIME_DIR"))
  }

  private static func absolutePath(_ variable: String) -> String? {
    guard let value = csystem_secure_environment(variable) else { return nil }
    let path = String(cString: value)
    return path.hasPrefix("/") ? path : nil
  }
}
