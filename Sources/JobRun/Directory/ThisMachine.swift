// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// What identifies this machine and its last start.
package enum ThisMachine {
  /// A text that the system chooses when it starts. If two boot ids differ, no process of the one still lives. Empty if
  /// the id is unknown.
  package static let bootID: String = {
    let bytes = try? RunDisk.contents("/proc/sys/kernel/random/boot_id")
    let text = String(decoding: bytes ?? [], as: UTF8.self)
    return String(text.prefix { !$0.isNewline })
  }()

  /// The name of the machine; empty if it is unknown.
  package static let name: String = {
    guard let name = cmonitor_host_name() else { return "" }
    defer { cmonitor_free(name) }
    return String(cString: name)
  }()
}
