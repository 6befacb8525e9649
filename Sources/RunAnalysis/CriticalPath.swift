// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The reason for the length of a run: the chain of operations that it had to wait for. Each operation of the
/// chain is the dependency of the next one that finished last.
///
/// The path goes from dependency to dependency. If an operation was ready and got no slot, the wait is a part
/// of the path of its own, which names the operation that freed the slot. Operations that had the slot
/// earlier are not on the path. Each moment of the path is counted once.
public struct CriticalPath: Sendable, Equatable {
  /// The reasons why time passed.
  public enum Kind: String, Sendable, CaseIterable {
    /// An operation ran.
    case work
    /// The operation was ready, and waited for a free slot, for a barrier before it, or for its queue to be
    /// resumed. A recording does not say for which of them. If ``Segment/freedBy`` is known, it was a slot.
    case slotWait
    /// The operation waited for something that is not on the path, because it was not recorded or because it
    /// is not a dependency: an exclusion, or the operation's own `isReady`. If a dependency ran or waited for
    /// a slot, that is a part of the path of its own.
    case dependencyWait
    /// The dependencies had finished, and the operation was not added yet, or the time of its start is
    /// unknown.
    case unaccounted
  }

  /// A part of the path, spent with one operation.
  public struct Segment: Sendable, Equatable {
    /// The operation that ran or waited.
    public var operation: OperationReport.ID
    /// How the time of the segment was spent.
    public var kind: Kind
    /// When the part began.
    public var start: MonitorTime
    /// When the next part begins.
    public var end: MonitorTime
    /// For a wait for a slot, the operation that freed it: the last operation of its queue that finished
    /// before. `nil` if not all slots were taken until then, or if the width is unknown.
    public var freedBy: OperationReport.ID?

    /// The length of the part.
    public var duration: Duration { end - start }

    /// Returns the rest of the part after a moment; `nil` if there is none.
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
  /// Whether the path ends with the operation that finished last, and no unfinished operation was left.
  public let isOfWholeRun: Bool

  /// The time from the first to the last moment.
  public var duration: Duration {
    guard let first = segments.first, let last = segments.last else { return .zero }
    return last.end - first.start
  }

  /// Returns how much of the path was spent in this way.
  public func total(of kind: Kind) -> Duration {
    segments.reduce(.zero) { $1.kind == kind ? $0 + $1.duration : $0 }
  }

  /// Finds the path of a run. If all operations have finished, the path ends with the operation that finished
  /// last. Otherwise it is the longest path that ends with a finished operation on which no finished
  /// operation depends. `nil` if no operation finished.
  ///
  /// - Parameter history: The run.
  public init?(of history: RunHistory) {
    let finder = CriticalPathFinder(history)
    let isOver = history.operations.values.allSatisfy { $0.state.isOver || history.isGone($0.id) }
    guard let last = isOver ? finder.lastFinisher : finder.endOfLongest else { return nil }
    self.init(to: last, finder, since: history.start, isOfWholeRun: isOver)
  }

  /// Finds the path to an operation; `nil` if the time of its finish is unknown.
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
    // Nothing is known of operations that had finished before the recording began.
    for id in finder.chain(endingWith: last) where id == last || finder.ends(id, behind: start) {
      operations.append(id)
      segments += finder.segments(of: id).compactMap { $0.since(start) }
    }
  }
}
