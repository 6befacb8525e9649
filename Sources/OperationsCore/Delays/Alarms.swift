// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The alarms of the process. For each clock, one task sleeps until the earliest alarm.
enum Alarms {
  private struct Line {
    let time: AlarmTime
    var alarms = AlarmLine()
    /// The task of the present sleep; `nil` if it was not stored yet.
    var task: Task<Void, Never>?
  }

  private static let lines = Locked<[ClockIdentity: Line]>([:])

  // MARK: Setting

  /// Returns the time of a clock, with the origin that the alarms of this clock use.
  static func time(of clock: any Clock<Duration>) -> AlarmTime {
    let identity = ClockIdentity(clock)
    if let known = lines.withLock({ $0[identity]?.time }) { return known }
    return AlarmTime(clock)
  }

  /// Returns the moment after a delay. A negative delay counts as zero, and more than 100 years as 100 years.
  static func moment(after delay: Duration, on time: AlarmTime) -> AlarmMoment {
    AlarmMoment(time.now + max(.zero, min(delay, .longest)), on: time)
  }

  /// Notifies an object at a moment, instead of at the moment that was set for it earlier on the same clock.
  ///
  /// The object is retained until then, or until ``remove(_:from:)``. An object must not have alarms on two
  /// clocks at the same time.
  static func set(_ target: any AlarmTarget, at moment: AlarmMoment) {
    let identity = ClockIdentity(moment.time.clock)
    var moment = moment
    while true {
      let (other, sleep, replaced) = lines.withLock {
        lines -> (AlarmTime?, AlarmLine.Sleep?, Task<Void, Never>?) in
        var line = lines.removeValue(forKey: identity) ?? Line(time: moment.time)
        defer { lines[identity] = line }
        guard line.time === moment.time else { return (line.time, nil, nil) }
        let sleep = line.alarms.set(target, at: moment.offset)
        return (nil, sleep, sleep == nil ? nil : line.task.take())
      }
      guard let other else { return begin(sleep, insteadOf: replaced, identity, moment.time) }
      // Another thread has set the first alarm on this clock, with another origin.
      moment = moment.moved(to: other)
    }
  }

  /// Removes the alarm of an object, if it has one. Its release runs on this thread.
  ///
  /// - Returns: Whether the object had an alarm. If it is `false`, another thread may be about to notify the object.
  @discardableResult
  static func remove(_ target: any AlarmTarget) -> Bool {
    let (removed, ended) = lines.withLock { lines -> ((any AlarmTarget)?, Line?) in
      // The search ends before the removal. Otherwise, its iterator would retain the lines, and the removal would copy
      // all alarms.
      let identity = lines.keys.first { lines[$0]?.alarms.time(of: target) != nil }
      guard let identity else { return (nil, nil) }
      let removed = lines[identity]?.alarms.remove(target)
      return (removed, endLineIfEmpty(identity, &lines))
    }
    ended?.task?.cancel()
    return withExtendedLifetime((removed, ended)) { removed != nil }
  }

  /// Returns the time until an object is notified; `nil` if it has no alarm.
  static func timeLeft(of target: any AlarmTarget) -> Duration? { moment(of: target)?.timeLeft }

  /// Returns the moment at which an object is notified; `nil` if it has no alarm.
  static func moment(of target: any AlarmTarget) -> AlarmMoment? {
    lines.withLock { lines in
      for line in lines.values {
        if let offset = line.alarms.time(of: target) {
          return AlarmMoment(offset, on: line.time)
        }
      }
      return nil
    }
  }

  /// The number of alarms, for tests.
  static var alarmCount: Int { lines.withLock { $0.values.reduce(0) { $0 + $1.alarms.count } } }

  // MARK: Sleeping

  private static func begin(
    _ sleep: AlarmLine.Sleep?, insteadOf replaced: Task<Void, Never>?, _ identity: ClockIdentity,
    _ time: AlarmTime
  ) {
    replaced?.cancel()
    guard let sleep else { return }
    let task = Task.detached(priority: .high) {
      await time.sleep(until: sleep.end)
      sleepEnded(sleep, identity, time)
    }
    let isStored = lines.withLock { lines in
      guard lines[identity]?.time === time, lines[identity]?.alarms.sleep == sleep else {
        return false
      }
      lines[identity]?.task = task
      return true
    }
    if !isStored { task.cancel() }
  }

  private static func sleepEnded(
    _ sleep: AlarmLine.Sleep, _ identity: ClockIdentity, _ time: AlarmTime
  ) {
    let now = time.now
    let (due, next, ended, task) = lines.withLock {
      lines -> ([any AlarmTarget], AlarmLine.Sleep?, Line?, Task<Void, Never>?) in
      // The sleep belongs to an earlier line of the clock, whose alarms were all removed.
      guard lines[identity]?.time === time, lines[identity]?.alarms.sleep == sleep,
        let (due, next) = lines[identity]?.alarms.sleepEnded(sleep.number, at: now)
      else { return ([], nil, nil, nil) }
      let task = lines[identity]?.task.take()
      return (due, next, endLineIfEmpty(identity, &lines), task)
    }
    withExtendedLifetime((ended, task)) {}
    begin(next, insteadOf: nil, identity, time)
    for target in due { target.alarmRings() }
  }

  /// Removes a line without alarms, so that its clock is released. The lines of the standard library's clocks
  /// stay, with their sleeps, because they are used again and again.
  ///
  /// - Returns: The removed line, which the caller releases outside the lock, because the `deinit` of the clock
  ///   may be code of the user. The caller also cancels the task of the line.
  private static func endLineIfEmpty(
    _ identity: ClockIdentity, _ lines: inout [ClockIdentity: Line]
  ) -> Line? {
    guard !identity.isOnlyOne, lines[identity]?.alarms.isEmpty == true else { return nil }
    return lines.removeValue(forKey: identity)
  }
}
