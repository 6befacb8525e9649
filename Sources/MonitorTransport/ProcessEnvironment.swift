// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem

/// Reads the environment variables with which a process was started.
///
/// Source: proc(5), `/proc/pid/environ`.
package enum ProcessEnvironment {
  /// Returns the entries `NAME=value` of a process; `nil` if the process does not exist, or if this process may not
  /// read them. Changes that the process has made since its start are not included. An entry is an array of bytes,
  /// because it need not be valid UTF-8.
  package static func entries(of process: Int32) -> [[UInt8]]? {
    contents(of: "/proc/\(process)/environ")?.split(separator: 0).map(Array.init)
  }

  private static func contents(of path: String) -> [UInt8]? {
    let file = csystem_open_to_read(path)
    guard file >= 0 else { return nil }
    defer { csystem_close(file) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = cmonitor_read(file, &buffer, buffer.count)
      guard count != 0 else { return contents }
      guard count > 0 else { return nil }
      contents += buffer[..<count]
    }
  }
}
