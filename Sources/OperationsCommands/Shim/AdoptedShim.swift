// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// A shim that is alive, and that another process has started.
package struct AdoptedShim: Hashable, Sendable {
  /// The id of the shim's process.
  package let processID: Int32
  /// The time at which the process has started, in the unit and from the moment of the file `/proc/PID/stat`.
  package let startTime: UInt64

  /// Creates the description of a shim. Nothing is checked.
  package init(processID: Int32, startTime: UInt64) {
    self.processID = processID
    self.startTime = startTime
  }

  private var identity: ProcessIdentity { ProcessIdentity(id: processID, startTime: startTime) }

  /// The time since the start of the process. It does not depend on the wall clock, which can be set back.
  package var age: Duration {
    let ticks = UInt64(max(1, csystem_ticks_per_second()))
    let start = Duration.seconds(Double(startTime) / Double(ticks))
    return max(.zero, .nanoseconds(csystem_boot_nanoseconds()) - start)
  }

  /// Waits until the process has ended. No thread is blocked.
  func awaitEnd() async {
    let descriptor = csystem_open_process(processID)
    defer { if descriptor >= 0 { csystem_close(descriptor) } }
    await awaitEnd(descriptor)
  }

  /// Waits until the process has ended.
  ///
  /// Without a descriptor, the method asks 20 times a second. The caller's task must not be cancelled, because then the
  /// method does not pause.
  ///
  /// - Parameter descriptor: A descriptor of the process, or a negative error number if this process has no free
  ///   descriptor, or the system has no descriptors of processes.
  func awaitEnd(_ descriptor: Int32) async {
    // The shim can have ended before its descriptor was opened. Then another process can have the id, and the
    // descriptor would be that of the other process. If the shim is alive now, it was alive when the descriptor was
    // opened.
    if identity.presence == .gone { return }
    if descriptor >= 0 { return await DescriptorWatch(descriptor).wait() }
    while identity.presence != .gone { try? await Task.sleep(for: .milliseconds(50)) }
  }
}
