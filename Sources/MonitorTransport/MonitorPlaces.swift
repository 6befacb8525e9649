// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The places where directories of sockets are searched and made.
package struct MonitorPlaces: Sendable {
  /// The only directory of sockets: for a container that shares it, and for tests, which must not see the
  /// other processes of the same user. `nil` for the usual places.
  package var only: String?
  /// The directory that the system has made for the user's session; `nil` if there is none.
  package var runtimePath: String?
  /// The directory that every user may write to.
  package var sharedPath = "/tmp"

  /// The values of the variables `OPQ_SOCKET_DIRECTORY` and `XDG_RUNTIME_DIR`, if they are absolute paths.
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
