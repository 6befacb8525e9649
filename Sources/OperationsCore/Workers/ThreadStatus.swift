// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The kernel's data about a thread of this process.
enum ThreadStatus {
  /// Returns whether the thread sleeps in the kernel. The value is `false` if the thread runs or
  /// waits for a processor, and `nil` if its state cannot be read, because no file descriptor is
  /// free or the file system is not mounted.
  ///
  /// Source: proc(5), `/proc/pid/stat`, field 3.
  static func isBlocked(threadID: Int32, below root: String = "/proc/self/task") -> Bool? {
    let file = csystem_open_to_read("\(root)/\(threadID)/stat")
    guard file >= 0 else { return nil }
    defer { csystem_close(file) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = csystem_read(file, start, buffer.count)
      guard count > 0 else { return nil }
      return state(in: buffer.prefix(count)) != UInt8(ascii: "R")
    }
  }

  /// Returns the letter for the state of a thread, from a line of `/proc/pid/stat`. The letter
  /// follows the thread's name, which is in brackets and may contain brackets.
  static func state(in line: some BidirectionalCollection<UInt8>) -> UInt8 {
    guard let bracket = line.lastIndex(of: UInt8(ascii: ")")) else { return UInt8(ascii: "R") }
    return line[bracket...].dropFirst(2).first ?? UInt8(ascii: "R")
  }

  /// Returns the processor time of the thread, in nanoseconds; `nil` if the thread has ended. This
  /// function needs no file descriptor.
  static func processorTime(threadID: Int32) -> Int64? {
    let time = csystem_thread_processor_nanoseconds(threadID)
    return time >= 0 ? time : nil
  }
}

/// How long a worker's operation has been finished although its `start()` or a `deinit` has not
/// returned.
///
/// Most operations return soon after they have finished, so a new thread for each of them would have
/// no work. For example, threads that free memory at the same time wait for each other, and further
/// threads would only wait longer.
struct Lingering: ~Copyable, Sendable {
  /// The time after which the worker counts as blocked, in nanoseconds.
  private static let longNanoseconds: Int64 = 4_000_000

  /// The number of starts and ends of operations on the worker's thread at the check that first
  /// found the present operation finished.
  private let step = Atomic<UInt64>(.max)
  /// The time of that check, in nanoseconds on the monotonic clock.
  private let beginning = Atomic<Int64>(0)
  /// The value of `step` at the last check that returned `true`.
  private let longStep = Atomic<UInt64>(.max)

  /// Handles a check that has found the worker's operation finished. Called only by the sampler.
  ///
  /// - Parameters:
  ///   - step: The number of starts and ends of operations on the worker's thread.
  ///   - now: Nanoseconds on the monotonic clock.
  /// - Returns: Whether an earlier check found the same operation finished, 4 ms ago or earlier.
  func isLong(at step: UInt64, now: Int64) -> Bool {
    if self.step.exchange(step, ordering: .relaxed) != step {
      beginning.store(now, ordering: .relaxed)
    }
    guard now - beginning.load(ordering: .relaxed) >= Self.longNanoseconds else { return false }
    longStep.store(step, ordering: .relaxed)
    return true
  }

  /// Returns whether a check has returned `true` for the operation that began with this step.
  func wasLong(at step: UInt64) -> Bool { longStep.load(ordering: .relaxed) == step }
}
