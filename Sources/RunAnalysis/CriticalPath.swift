// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The chain of operations that determined the length of a run. Each operation of the chain is a dependency
/// of the next one: the dependency that finished last.
///
/// The path leads from dependency to dependency. If an operation was ready and had no slot, the wait is a
/// segment of the path. This segment names the operation that freed the slot. Operations that had the slot
/// before are not on the path. Each moment of the path is counted once.
public struct CriticalPath: Sendable, Equatable {
  /// The reasons why time passes on the critical path.
  public enum Kind: String, Sendable, CaseIterable {
    /// Time passed because the operation ran.
    case work
    /// The operation was ready and did not run yet. It waited for a free slot, for a barrier before it, or
    /// for its queue to be resumed. A recording does not contain the actual reason. If ``Segment/freedBy`` is
    /// not `nil`, the operation waited for a slot.
    case slotWait
    /// The operation waited for something that is not on the path. This is either a dependency that was not
    /// recorded, or another condition, such as an exclusion or the operation's own `isReady`. The times in
    /// which a dependency ran or waited for a slot are other segments of the path.
    case dependencyWait
    /// The reason why time passed is unknown. Either the operation was not yet added although its
    /// dependencies had finished, or the start time of the operation is unknown.
    case unaccounted
  }

  /// A segment of the path. During a segment, one operation ran or waited.
  public struct Segment: Sendable, Equatable {
    /// The operation that ran or waited.
    public var operation: OperationReport.ID
    /// The reason why the time of the segment passed.
    public var kind: Kind
    /// The moment at which the segment begins.
    public var start: MonitorTime
    /// The moment at which the segment ends and the next one begins.
    public var end: MonitorTime
    /// If this segment is a wait for a slot, the operation that freed the slot: the last operation of the
    /// same queue that finished during the wait. It is `nil` if no operation of the queue finished during the
    /// wait, if a slot was free before the last one finished, or if the width of the queue is unknown.
    public var freedBy: OperationReport.ID?

    /// The duration of the segment.
    public var duration: Duration { end - start }

    /// Returns the part of the segment after a moment; `nil` if the segment ends before the moment.
    fileprivate func since(_ moment: MonitorTime) -> Segment? {
      guard end > moment else { return nil }
      var segment = self
      segment.start = max(start, moment)
      return segment
    }
  }

  /// The segments of the path, sorted by time. There are no gaps between them.
  public private(set) var segments: [Segment] = []
  /// The operations of the path, from the first to the last.
  public private(set) var operations: [OperationReport.ID] = []
  /// Whether all operations of the run have finished and the path ends with the operation that finished last.
  public let isOfWholeRun: Bool

  /// The duration of the whole path.
  public var duration: Duration {
    guard let first = segments.first, let last = segments.last else { return .zero }
    return last.end - first.start
  }

  /// Returns the total duration of all segments of a kind.
  public func total(of kind: Kind) -> Duration {
    segments.reduce(.zero) { $1.kind == kind ? $0 + $1.duration : $0 }
  }

  /// Finds the critical path of a run; `nil` if no operation has finished. If all operations have finished,
  /// the path ends with the operation that finished last. Otherwise, the result is the longest path to a
  /// finished operation that is not a dependency of another finished operation.
  ///
  /// - Parameter history: The history of the run.
  public init?(of history: RunHistory) {
    let finder = CriticalPathFinder(history)
    let isOver = history.operations.values.allSatisfy { $0.state.isOver || history.isGone($0.id) }
    guard let last = isOver ? finder.lastFinisher : finder.endOfLongest else { return nil }
    self.init(to: last, finder, since: history.start, isOfWholeRun: isOver)
  }

  /// Finds the critical path to an operation; `nil` if the finish time of the operation is unknown.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - history: The history of the run.
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
    // Operations that finished before the recording began are left out, because their times are unknown.
    for id in finder.chain(endingWith: last) where id == last || finder.ends(id, behind: start) {
      operations.append(id)
      segments += finder.segments(of: id).compactMap { $0.since(start) }
    }
  }
}
