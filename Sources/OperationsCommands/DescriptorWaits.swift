// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore

/// All waits of the process for file descriptors. One thread handles them.
///
/// Read sources of Dispatch are not used. On Linux, Dispatch uses freed memory when many threads create them and the
/// watched pipes are closed (issue 949 of swift-corelibs-libdispatch).
final class DescriptorWaits: Sendable {
  /// A function that starts a thread, and returns 0 or the error number.
  typealias ThreadStarter =
    @Sendable (@convention(c) (UnsafeMutableRawPointer) -> Void, UnsafeMutableRawPointer) -> Int32

  private struct Wait {
    let descriptor: Int32
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    /// A number is never used again, unlike the number of a descriptor, so that a late event ends no other wait.
    var lastNumber: UInt64 = 0
    /// The current waits. The thread that removes a wait ends it.
    var waits: [UInt64: Wait] = [:]
  }

  private let watch: Int32
  private let state = Locked(State())

  /// Starts the thread, which never ends.
  ///
  /// - Returns: `nil` if the process has no free descriptor, or cannot start a thread.
  init?(startThread: ThreadStarter = { csystem_start_thread($0, $1) }) {
    watch = csystem_open_watch()
    if watch < 0 { return nil }
    let context = Unmanaged.passRetained(self)
    let error = startThread(
      { Unmanaged<DescriptorWaits>.fromOpaque($0).takeRetainedValue().main() }, context.toOpaque())
    if error == 0 { return }
    csystem_close(watch)
    context.release()
    return nil
  }

  /// Waits until a descriptor is readable, or until the wait is ended. Then, the system no longer watches it.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - mustEnd: Takes the number of the wait, which has begun, and returns whether the wait must end at once.
  /// - Returns: `false` if the system cannot watch the descriptor.
  func wait(for descriptor: Int32, mustEnd: (UInt64) -> Bool) async -> Bool {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state in
        state.lastNumber += 1
        state.waits[state.lastNumber] = Wait(descriptor: descriptor, continuation: continuation)
        return state.lastNumber
      }
      if csystem_watch_descriptor(watch, descriptor, number) != 0 {
        remove(number)?.continuation.resume(returning: false)
      } else if mustEnd(number) {
        end(number)
      }
    }
  }

  /// Ends a wait, unless it has ended.
  func end(_ number: UInt64) {
    guard let wait = remove(number) else { return }
    csystem_unwatch_descriptor(watch, wait.descriptor)
    wait.continuation.resume(returning: true)
  }

  private func remove(_ number: UInt64) -> Wait? {
    state.withLock { $0.waits.removeValue(forKey: number) }
  }

  private func main() {
    csystem_set_thread_name("opq-descriptors")
    var numbers = [UInt64](repeating: 0, count: 64)
    while true {
      let count = csystem_wait_for_descriptors(watch, &numbers, Int32(numbers.count))
      if count < 0 { fatalError("Operations: the program has closed a descriptor of the library.") }
      for number in numbers.prefix(Int(count)) { end(number) }
    }
  }

  private static let shared = Locked<DescriptorWaits?>(nil)
  /// The lock of the task that creates the waits, which happens once. Tasks that come later wait with short times of
  /// sleep, because the start of a thread takes longer than the lock of a `Locked` value may be held.
  private static let creation = BriefLock()

  /// The waits of the process; `nil` if they cannot be created at this moment. The first call creates them.
  static var current: DescriptorWaits? {
    if let waits = shared.withLock({ $0 }) { return waits }
    creation.lock()
    defer { creation.unlock() }
    if let waits = shared.withLock({ $0 }) { return waits }
    let waits = DescriptorWaits()
    shared.withLock { $0 = waits }
    return waits
  }
}
