// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The starts of operations and the use of slots of one queue in the last 60 seconds.
///
/// The starts are the increase of an exact number, so no start is missed between two updates. The increase is
/// counted in the second in which the new number arrives.
struct QueueHistory: Sendable, Equatable {
  /// How much of a queue's width was in use in the last minute.
  enum Use: Sendable, Equatable {
    /// The mean share of the slots that were taken, from 0 to 1.
    case share(Double)
    /// The mean number of executing operations. The queue has no width.
    case count(Double)
  }

  /// The number of complete seconds that are kept.
  static let capacity = 60
  /// The rate is a mean over this number of seconds.
  private static let meanSeconds = 5
  /// The maximum number of seconds between the second of an update and the current second. An update that was sent
  /// before the end of a second may arrive after it.
  private static let mostSecondsLate: Int64 = 2

  /// The values of one second.
  private struct Second: Sendable, Equatable {
    /// The number of operations that began to execute.
    var starts = 0
    /// The sum of the times for which slots were taken, in seconds.
    var taken = 0.0
    /// The number of slots; `nil` if the queue had no width at the end of the second.
    var width: Int?

    /// Removes at most `count` starts, and subtracts the number of removed starts from `count`.
    mutating func removeStarts(_ count: inout Int) {
      let removed = min(count, starts)
      starts -= removed
      count -= removed
    }
  }

  private var seconds: [Second] = []
  private var current = Second()
  /// The sequence number of the current second; `nil` before the first update.
  private var number: Int64?
  /// The part of the current second whose use of slots has been added, from 0 to 1.
  private var part = 0.0
  /// The number of started operations at the last update; `nil` if it is unknown.
  private var startedCount: Int?
  private var executing = 0
  private var width: Int?
  /// Whether updates may be missing before the next one.
  private var isInterrupted = false

  /// The number of operations that began to execute in each complete second, the oldest second first; empty if the
  /// process does not report the number of started operations.
  var samples: [Int] { startedCount == nil ? [] : seconds.map(\.starts) }

  /// The number of starts per second, the mean of five seconds; `nil` before the first complete second, or if it is
  /// unknown.
  var rate: Double? {
    let last = samples.suffix(Self.meanSeconds)
    return last.isEmpty ? nil : last.reduce(0) { $0 + Double($1) } / Double(last.count)
  }

  /// The use of the queue's slots; `nil` before the first complete second.
  var use: Use? {
    guard !seconds.isEmpty else { return nil }
    guard width != nil else {
      return .count(seconds.reduce(0) { $0 + $1.taken } / Double(seconds.count))
    }
    let shares = seconds.compactMap { second in
      second.width.map { $0 > 0 ? min(1, second.taken / Double($0)) : 0 }
    }
    return shares.isEmpty ? nil : .share(shares.reduce(0, +) / Double(shares.count))
  }

  /// Returns whether an operation has started in one of the last `count` seconds or in the current second.
  func isMoving(within count: Int) -> Bool {
    current.starts > 0 || samples.suffix(count).contains { $0 > 0 }
  }

  /// Returns whether the rate, the use or the starts of the last `count` seconds will change with the next seconds, even
  /// if nothing more happens in the queue.
  func isSettling(within count: Int) -> Bool {
    if isMoving(within: max(count, Self.meanSeconds)) { return true }
    let limit = width.map { Double($0) } ?? .infinity
    let present = min(Double(executing), limit)
    return seconds.contains { abs(min($0.taken, limit) - present) > 0.005 || $0.width != width }
  }

  /// Adds the counts of an update. If updates were missing before it, or if it belongs to a much earlier moment, the
  /// history begins again, because the seconds of the new starts are unknown.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - number: The sequence number of the second that contains the moment of the update.
  ///   - part: The part of this second before the moment, from 0 to 1.
  mutating func note(_ queue: QueueReport, second number: Int64, part: Double) {
    let isContinued = self.number.map { $0 - number <= Self.mostSecondsLate } ?? false
    let isSame = (queue.startedCount == nil) == (startedCount == nil)
    if isContinued, isSame, !isInterrupted {
      advance(to: number)
      if number == self.number { addUse(until: part) }
      count((queue.startedCount ?? 0).subtractingSaturating(startedCount ?? 0))
    } else {
      self = QueueHistory()
      (self.number, self.part) = (number, part)
    }
    startedCount = queue.startedCount
    (executing, width) = (max(0, queue.counts.executing), queue.width)
  }

  /// Notes that updates may be missing before the next one.
  mutating func interrupt() { isInterrupted = true }

  /// Completes each second before the second with this sequence number.
  mutating func advance(to number: Int64) {
    guard let old = self.number, number > old else { return }
    addUse(until: 1)
    complete()
    // The counts have not changed in the other seconds.
    let further = min(number - old - 1, Int64(Self.capacity))
    let idle = Second(taken: Double(executing), width: width)
    seconds += repeatElement(idle, count: Int(further))
    if seconds.count > Self.capacity { seconds.removeFirst(seconds.count - Self.capacity) }
    self.number = number
  }

  /// Adds new starts to the current second. The number of started operations decreases if operations that the queue had
  /// chosen do not begin. These are no starts, so they are removed from the last seconds with starts.
  private mutating func count(_ increase: Int) {
    guard increase < 0 else {
      current.starts = current.starts.addingSaturating(increase)
      return
    }
    var excess = 0.subtractingSaturating(increase)
    current.removeStarts(&excess)
    for index in seconds.indices.reversed() where excess > 0 {
      seconds[index].removeStarts(&excess)
    }
  }

  private mutating func addUse(until end: Double) {
    guard end > part else { return }
    current.taken += (end - part) * Double(executing)
    part = end
  }

  private mutating func complete() {
    current.width = width
    seconds.append(current)
    (current, part) = (Second(), 0)
  }
}

extension MonitoredState {
  /// The maximum delay of an update whose starts and ends are counted in its second.
  static let longestDelay = Duration.milliseconds(1_500)

  /// Adds the counts of an update to the histories of the queues.
  mutating func noteQueueHistories(_ update: Update) {
    if update.behind > Self.longestDelay { interruptQueueHistories() }
    let second = rates.number(of: update.time)
    let part = rates.part(of: update.time)
    for queue in update.queues {
      if let process = process(of: queue.id), process.connection != .live {
        queueHistories[queue.id]?.interrupt()
      } else {
        queueHistories[queue.id, default: QueueHistory()].note(queue, second: second, part: part)
      }
    }
    guard queueHistories.count > queues.count else { return }
    queueHistories = queueHistories.filter { queue($0.key) != nil }
  }

  /// Notes that updates may be missing before the next one, because the process has not answered.
  mutating func interruptQueueHistories() {
    for id in queueHistories.keys { queueHistories[id]?.interrupt() }
  }

  /// Completes the seconds of the queues' histories that have ended at `time`.
  mutating func advanceQueueHistories(to time: MonitorTime) {
    let second = rates.number(of: time)
    for id in queueHistories.keys { queueHistories[id]?.advance(to: second) }
  }
}

extension Dashboard {
  /// Whether the screen shows a history of starts that changes with the next second.
  var queueHistoryMoves: Bool {
    guard screen.view == .queues, detail == nil, warningList == nil, setup == nil else {
      return false
    }
    if let state = openQueueScreen {
      return live.queueHistories[state.queue]?.isSettling(within: QueueHistory.capacity) ?? false
    }
    let columns = QueueColumnPlan(of: self, columns: screen.size.columns)
    let seconds = columns[.starts]?.count ?? 0
    let isShown = columns[.rate] != nil || columns[.use] != nil
    return visibleQueues.contains { queue in
      isShown && live.queueHistories[queue]?.isSettling(within: seconds) == true
    }
  }
}
