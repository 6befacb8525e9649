// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// The work of one operation, which a shape does once, and other data that a shape needs.
final class Job: Sendable {
  /// The number of the operation, from 0. Shapes use it to vary their behavior.
  let index: Int

  /// The queue that the operation is added to.
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

  /// Does the work. A shape calls it once for each operation, or not at all if the operation is
  /// cancelled.
  ///
  /// - Parameter operation: The operation, which the run may cancel now.
  func work(of operation: Operation) {
    begin()
    for _ in 0..<spinCount { Self.spin() }
    if cancelsDuringWork { operation.cancel() }
    sightings.note(.work, of: index)
  }

  /// Records that the operation was not skipped. A shape that works later calls this before its
  /// `main()` or `start()` returns.
  func begin() { sightings.noteBegun(index) }

  /// Runs `body` soon on another thread, as a download or a database would.
  func later(_ body: @escaping @Sendable () -> Void) { DispatchQueue.global().async(execute: body) }

  /// Reports a fault that the shape itself has detected.
  func report(_ fault: String) { sightings.note(fault: "operation \(index) \(fault)") }

  @inline(never)
  private static func spin() {}
}
