// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The processes of a command that end when the command is cancelled.
protocol CommandGroup: Sendable {
  var events: CommandEvents { get }

  /// Finds the members that a later call may not find. Called from time to time while the command runs.
  func look()

  /// Sends SIGTERM to all members, and continues the stopped ones.
  ///
  /// - Parameter deadline: The time until which members are awaited that are not there yet.
  func terminate(before deadline: ContinuousClock.Instant) async

  /// Sends SIGKILL to all members, and to the first process of the command.
  func kill()

  /// Whether no member is alive. Asked only after the end of the command.
  var isEmpty: Bool { get }
}

extension CommandGroup {
  func look() {}

  /// Ends all members: sends SIGTERM, and after the grace period, or as soon as the command has ended, SIGKILL until no
  /// member is alive.
  ///
  /// - Returns: Whether no member is alive.
  func stop(gracePeriod: Duration) async -> Bool {
    // The grace period may be too long for an instant of the clock.
    let limit = min(max(gracePeriod, .zero), .seconds(100 * 365 * 86_400))
    let deadline = ContinuousClock.now + limit
    await terminate(before: deadline)
    await events.wait(for: [.end, .graceEnd], atMost: ContinuousClock.now.duration(to: deadline))
    return await killUntilEmpty()
  }

  /// Sends SIGKILL until no member is alive, for at most 5 seconds. The caller's task must not be cancelled, because then
  /// the method does not pause between two signals.
  ///
  /// - Returns: Whether no member is alive.
  func killUntilEmpty() async -> Bool {
    let deadline = ContinuousClock.now + .seconds(5)
    var pause = Duration.milliseconds(1)
    while true {
      kill()
      if events.has(.end), isEmpty { return true }
      if ContinuousClock.now > deadline { return false }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}
