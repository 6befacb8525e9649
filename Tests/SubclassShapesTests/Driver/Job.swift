// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// The work of one operation of a subclass under test, which the operation does once, and other
/// data that the subclass needs.
final class Job: Sendable {
  /// The index of the operation, from 0. Some subclasses behave differently for different indices.
  let index: Int

  /// The queue to which the operation is added.
  let queue: OperationQueue

  private let sightings: Sightings
  private let spinCount: Int
  private let cancelsDuringWork: Bool

  init(_ index: Int, in run: ShapeRun) {
    self.index = index
    queue = run.queue
    sightings = run.sightings
    spinCount = run.plans[index].spinCount
    cancelsDuringWork = run.plans[index].cancellation == .duringWork
  }

  /// Does the work of the operation. The operation calls this function once, or not at all if the
  /// operation is cancelled.
  ///
  /// - Parameter operation: The operation. The test may cancel it during the work.
  func work(of operation: Operation) {
    begin()
    for _ in 0..<spinCount { Self.spin() }
    if cancelsDuringWork { operation.cancel() }
    sightings.note(.work, of: index)
  }

  /// Records that the operation was not skipped. `work(of:)` calls this function. An operation that
  /// does its work after its `main()` or `start()` has returned calls this function before the
  /// return.
  func begin() { sightings.noteBegun(index) }

  /// Runs `body` soon on another thread, as a download or a database would.
  func later(_ body: @escaping @Sendable () -> Void) { DispatchQueue.global().async(execute: body) }

  /// Reports a fault that the operation itself has detected.
  func report(_ fault: String) { sightings.note(fault: "operation \(index) \(fault)") }

  @inline(never)
  private static func spin() {}
}
