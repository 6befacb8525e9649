// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self == Operation {
  /// The operation whose work calls this property; `nil` outside the work of an operation.
  ///
  /// In the `main()`, `start()` or block of an operation, it is that operation, on the thread that
  /// runs this work. If an operation starts another one on its own thread, the inner operation is the
  /// current one until `start()` returns. In the work of an ``AsyncOperation``, it is that operation,
  /// also after the work has been suspended, and in the tasks that the work creates, except for
  /// detached tasks.
  ///
  /// In a completion block, and on threads that the work has created itself, the property is `nil`.
  /// Pass the operation to such code instead. In an observer, the value depends on the thread that
  /// calls the observer; use the operation that the observer receives.
  public static var current: Operation? {
    if let operation = CurrentWork.operation { return operation.isOfLibrary ? nil : operation }
    return CurrentWork.operationOfTask
  }
}

extension OperationSupplement where Self: Operation {
  /// Reports how much of the operation's work is completed.
  ///
  /// `opq-top` shows the progress as a bar, with the rate and the time left. Only the last report
  /// counts. The method can be called on any thread, as often as the work advances: a call takes a
  /// few nanoseconds if no viewer is connected, and viewers read only the last value.
  ///
  /// ```swift
  /// for (index, page) in pages.enumerated() {
  ///   convert(page)
  ///   Operation.current?.reportProgress(completed: index + 1, of: pages.count)
  /// }
  /// ```
  ///
  /// A ``RetryOperation`` and a ``TimeoutOperation`` have the progress of the operation that they run
  /// at that time. After the operation has finished, the method does nothing.
  ///
  /// - Parameters:
  ///   - completed: The number of completed units. A negative number counts as 0, and a number above
  ///     `total` as `total`. If it is smaller than before, the measurement of the rate begins again.
  ///   - total: The number of all units. If it is 0 or negative, the total is unknown, and viewers
  ///     show the number of completed units without a bar.
  public func reportProgress(completed: Int, of total: Int) {
    let total = max(0, total)
    let completed = max(0, total == 0 ? completed : min(completed, total))
    (self as Operation).report { $0.setProgress(completed: completed, total: total) }
  }

  /// Reports what the operation does at this moment, in a few words such as “parsing page 7”.
  ///
  /// `opq-top` shows the text beside the operation. Only the last report counts. The method can be
  /// called on any thread. After the operation has finished, the method does nothing, and viewers
  /// show the last text.
  ///
  /// - Parameter status: The text; an empty text removes the status. Viewers receive at most 1 KiB
  ///   of it.
  public func reportStatus(_ status: String) {
    (self as Operation).report { $0.setStatus(status.isEmpty ? nil : status) }
  }

  /// The number of completed units and the number of all units that the last call of
  /// ``reportProgress(completed:of:)`` has reported; `nil` if there was no call. The total is 0 if it
  /// is unknown. Can be read on any thread.
  public var reportedProgress: (completed: Int, total: Int)? {
    (self as Operation).reports?.last.progress.map { ($0.completed, $0.total) }
  }

  /// The text that the last call of ``reportStatus(_:)`` has reported; `nil` if there is none. Can be
  /// read on any thread.
  public var reportedStatus: String? { (self as Operation).reports?.last.status }
}

extension Operation {
  /// The queues in which the library runs its own work, such as completion blocks. They are never
  /// deallocated, so no other queue has one of these addresses.
  private static let queuesOfLibrary = [OperationQueue.completions, OperationQueue.duties].map {
    UInt(bitPattern: ObjectIdentifier($0.core))
  }

  /// Whether the operation is work of the library itself, which users do not know.
  fileprivate final var isOfLibrary: Bool {
    guard let reference = queue.load(ordering: .acquiring) else { return false }
    let queue = UInt(bitPattern: reference.toOpaque())
    return queue == Self.queuesOfLibrary[0] || queue == Self.queuesOfLibrary[1]
  }

  /// The reports of the operation; `nil` if there was no report.
  package final var reports: OperationReports? {
    rare == nil ? nil : withRare { $0?.reports }
  }

  /// Stores a report of this operation and of the operation that runs it, if there is one.
  @inline(__always)
  fileprivate final func report(_ change: (OperationReports) -> Void) {
    guard !status.load(ordering: .acquiring).isFinished else { return }
    // The operation keeps its rarely used data and its reports, so they are used without a retain.
    let (exist, hasRunner) =
      extra.load(ordering: .acquiring).unretainedRare?._withUnsafeGuaranteedRef {
        $0.withExistingReports { note($0, change) }
      } ?? (false, false)
    if !exist || hasRunner { reportSlowly(change, isNew: !exist) }
  }

  @inline(__always)
  private final func note(_ reports: OperationReports, _ change: (OperationReports) -> Void) {
    change(reports)
    noteReports(reports)
  }

  /// Notifies the collector that the reports have changed, unless it was notified and has not read them since.
  @inline(__always)
  final func noteReports(_ reports: OperationReports) {
    if MonitorLevel.isOn, reports.becameUnread() { noteDescriptionChanged() }
  }

  /// Creates the reports if this is the first one, and stores the report of the runner.
  @inline(never)
  private final func reportSlowly(_ change: (OperationReports) -> Void, isNew: Bool) {
    let (reports, runner) = makeRare { ($0.makeReports(), $0.runner) }
    if isNew { note(reports, change) }
    runner?.report(change)
  }

  /// The outermost operation that runs this one as a retry or a timeout does; the operation itself if
  /// there is none. It is in a queue, so viewers know it.
  package final var outermostRunner: Operation {
    var operation = self
    while operation.rare != nil, let runner = operation.withRare({ $0?.runner }) {
      operation = runner
    }
    return operation
  }

  /// Returns the operation's companion: an object that another module of this package keeps with the
  /// operation for as long as it exists. An operation has at most one companion.
  ///
  /// - Parameter make: Creates the companion. If several threads call this method at the same time,
  ///   each may call the closure, and all get the same object. The object must not retain the
  ///   operation.
  /// - Returns: The companion.
  package final func companion(_ make: () -> any AnyObject & Sendable) -> AnyObject {
    if let known = withRare({ $0?.companion }) { return known }
    let made = make()
    return makeRare { rare in
      let chosen = rare.companion ?? made
      rare.companion = chosen
      return chosen
    }
  }

  /// Sets the operation that runs this one and that has its reports too; `nil` ends that.
  ///
  /// - Precondition: The caller retains the runner during this call, so that nothing is released under
  ///   the lock.
  final func setRunner(_ runner: Operation?) { makeRare { $0.runner = runner } }
}

extension CurrentWork {
  /// The asynchronous operation whose task, or a child of it, is the current task.
  @TaskLocal static var operationOfTask: Operation?
}
