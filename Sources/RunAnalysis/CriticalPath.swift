// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// Why a run took as long as it did: the chain of operations that it had to wait for, each of which
/// finished last of what the next one depends on.
///
/// The path goes from dependency to dependency. Where an operation was ready and got no slot, that is a
/// part of the path of its own, which names the operation that freed the slot: those that had it before
/// are not on the path. Each moment of the path is counted once.
public struct CriticalPath: Sendable, Equatable {
  /// What the time was spent with.
  public enum Kind: String, Sendable, CaseIterable {
    /// An operation ran.
    case work
    /// It was ready, and waited for a free slot, for a barrier before it, or for its queue to be resumed: a
    /// recording does not tell for which. Where ``Segment/freedBy`` is known it was a slot.
    case slotWait
    /// It waited for something that is not on the path, because nothing was recorded of it or because it
    /// is no dependency: what it excludes, or its own `isReady`. That a dependency ran, or waited for a
    /// slot, is a part of the path of its own.
    case dependencyWait
    /// What it depends on had finished, and it was not added yet; or nobody knows when it started.
    case unaccounted
  }

  /// A part of the path, spent with one operation.
  public struct Segment: Sendable, Equatable {
    /// The operation that ran or waited.
    public var operation: OperationReport.ID
    /// What with.
    public var kind: Kind
    /// When it began.
    public var start: MonitorTime
    /// When the next one begins.
    public var end: MonitorTime
    /// Of a wait for a slot: the operation that freed it, which is the last one of its queue that finished
    /// before. `nil` where not all slots were taken until then, or it is not known how many there are.
    public var freedBy: OperationReport.ID?

    /// How long it is.
    public var duration: Duration { end - start }

    /// What of it lies behind a moment; `nil` where that is nothing.
    fileprivate func since(_ moment: MonitorTime) -> Segment? {
      guard end > moment else { return nil }
      var segment = self
      segment.start = max(start, moment)
      return segment
    }
  }

  /// The parts, by time, without gaps.
  public private(set) var segments: [Segment] = []
  /// The operations, the first one first.
  public private(set) var operations: [OperationReport.ID] = []
  /// Whether the operation at its end finished last of all, and so none was left.
  public let isOfWholeRun: Bool

  /// From the first to the last moment.
  public var duration: Duration {
    guard let first = segments.first, let last = segments.last else { return .zero }
    return last.end - first.start
  }

  /// How much of it was spent with something.
  public func total(of kind: Kind) -> Duration {
    segments.reduce(.zero) { $1.kind == kind ? $0 + $1.duration : $0 }
  }

  /// Finds the path of a run: to the operation that finished last where all have finished, and otherwise
  /// the longest one of those that nothing finished waited for. `nil` where no operation finished.
  ///
  /// - Parameter history: The run.
  public init?(of history: RunHistory) {
    let finder = CriticalPathFinder(history)
    let isOver = history.operations.values.allSatisfy { $0.state.isOver || history.isGone($0.id) }
    guard let last = isOver ? finder.lastFinisher : finder.endOfLongest else { return nil }
    self.init(to: last, finder, since: history.start, isOfWholeRun: isOver)
  }

  /// Finds the path to an operation; `nil` where it is not known when that finished.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - history: The run.
  init?(to id: OperationReport.ID, in history: RunHistory) {
    guard history.operations[id]?.finished != nil else { return nil }
    self.init(
      to: id, CriticalPathFinder(history), since: history.start, isOfWholeRun: false)
  }

  private init(
    to last: OperationReport.ID, _ finder: CriticalPathFinder, since start: MonitorTime,
    isOfWholeRun: Bool
  ) {
    self.isOfWholeRun = isOfWholeRun
    // Of what had finished before the recording began nothing is told.
    for id in finder.chain(endingWith: last) where id == last || finder.ends(id, behind: start) {
      operations.append(id)
      segments += finder.segments(of: id).compactMap { $0.since(start) }
    }
  }
}
