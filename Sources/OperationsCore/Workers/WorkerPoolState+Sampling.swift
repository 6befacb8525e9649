// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WorkerPoolState {
  /// What the sampler, the thread that looks for blocked workers, has found in one check.
  struct Look {
    /// The workers that do not run: they are blocked in the kernel, or their operation has
    /// finished.
    var blocked: [Worker] = []
    /// Whether some workers have used no processor time since the last check, and must be checked
    /// again.
    var isUndecided = false
    /// The number of all starts and ends of operations on workers.
    var progress: UInt64 = 0
    /// The time of the check, in nanoseconds on the monotonic clock.
    var now: Int64 = 0
  }

  /// The next action of the sampler, the thread that looks for blocked workers.
  enum Sampling: Equatable {
    case again(afterNanoseconds: Int64)
    case rest
    /// The pool has no worker, so the sampler's thread ends.
    case end
  }

  /// The state of the sampler, the thread that looks for blocked workers, between two checks.
  struct SamplingState {
    /// The number of requests of the `own` lane (for queues with their own width, and for blocks of
    /// one operation) that the sampler's next check may grant although the budget of running
    /// threads is used up.
    var growth: Int
    var interval = WorkerPoolState.shortestInterval
    var needlessLooks = 0
    /// Whether the interval between two checks of the sampler is long because no check could add a
    /// thread.
    var isFutile = false
    var lastProgress: UInt64 = 0
    /// The time of the last check that found that an operation had started or ended; `.min` before
    /// the first check.
    var lastProgressTime = Int64.min
  }

  /// The number of requests of a lane that may be granted although the budget of running threads is
  /// used up. The number is 1 at first. It grows by one each time the first request has waited for
  /// some milliseconds, because the requests that are being served take long.
  struct SurplusAllowance {
    private static let patience: Int64 = 5_000_000

    private(set) var count = 1
    /// The request that has waited longest, and the time at which the sampler first saw this
    /// request or last increased `count` for it.
    private var first: (number: UInt64, time: Int64)?

    /// Handles a check of the sampler.
    ///
    /// - Parameters:
    ///   - number: The serial number of the request that has waited longest; `nil` if no request
    ///     waits.
    ///   - surplus: The number of requests that are being served in addition to the budget of
    ///     running threads.
    ///   - limit: The maximum value of `count`.
    ///   - now: Nanoseconds on the monotonic clock.
    mutating func notice(first number: UInt64?, surplus: Int, limit: Int, now: Int64) {
      guard let number else {
        self = SurplusAllowance()
        return
      }
      if let first, first.number == number {
        guard now - first.time >= Self.patience else { return }
        // The new value of `count` is greater than the number of requests that are being served.
        // The old value may be smaller than that number, because `count` is reset when no request
        // waits.
        count = min(max(count, surplus) + 1, limit)
      }
      first = (number, now)
    }
  }

  /// A pause after a failure to start a thread. Each further failure doubles its length.
  struct BackOff {
    private let shortest: Int64
    private let longest: Int64
    private(set) var endTime: Int64 = 0
    private var failureCount = 0
    private(set) var isUnderWay = false

    init(shortest: Int64, longest: Int64) {
      self.shortest = shortest
      self.longest = longest
    }

    mutating func begin(now: Int64) {
      failureCount = min(failureCount + 1, 8)
      endTime = now + min(shortest << failureCount, longest)
      isUnderWay = true
    }

    /// Ends the pause after a failure to start a thread, if the end of the pause is at or before
    /// `now`.
    mutating func pass(_ now: Int64) { if now >= endTime { isUnderWay = false } }

    /// Ends the pause after a thread was started, and resets its length.
    mutating func succeeded() {
      failureCount = 0
      isUnderWay = false
    }
  }

  static let stallNanoseconds: Int64 = 20_000_000
  /// The time after which a waiting request of a background queue comes before other requests.
  static let backgroundPatience: Int64 = 100_000_000
  /// The maximum number of requests for the library's own work that are served in addition to the
  /// budget of running threads, and the same maximum for completion blocks. If there are more
  /// processors, the maximum is the number of processors. One more may be served for each 5 ms
  /// that the first request waits. If many threads compute, the kernel itself delays a new thread, so more
  /// threads would not start the work sooner.
  private static let surplusLimit = 16
  private static let shortestInterval: Int64 = 1_000_000
  private static let longestInterval: Int64 = 5_000_000
  /// The maximum interval between two checks of the sampler (the thread that looks for blocked
  /// workers) while no thread can be added.
  private static let longestFutileInterval: Int64 = 80_000_000
  /// The number of checks without waiting requests after which the sampler sleeps until it is
  /// woken.
  private static let patience = 3

  /// Returns whether the caller must start or wake the sampler after a change of this state.
  ///
  /// The sampler is started before the first worker, and then sleeps. If a thread cannot be
  /// started, only the sampler tries again.
  mutating func samplerCommand() -> SamplerCommand {
    switch sampler {
    case .awake:
      // The sampler is woken if it sleeps for a long interval because no thread could be added, and
      // a thread can be added now.
      guard sampling.isFutile, hasWaiting, !isFutile else { return .nothing }
    case .resting:
      guard hasWaiting || threadCount == 0 else { return .nothing }
    case .none:
      guard hasWaiting || threadCount > 0, !samplerBackOff.isUnderWay else { return .nothing }
    }
    let command: SamplerCommand = sampler == .none ? .start : .wake
    let isAwake = sampler == .awake
    sampler = .awake
    sampling.interval = Self.shortestInterval
    sampling.isFutile = false
    if command == .wake, isAwake { return command }
    sampling.needlessLooks = hasWaiting ? 0 : Self.patience
    sampling.lastProgressTime = .min
    return command
  }

  /// Handles a check of the sampler. Returns the actions, and the time of the next check.
  mutating func looked(_ look: Look) -> (actions: [Action], next: Sampling) {
    countBlocked(look)
    notice(look)
    let isAllBlocked = blockedCount > 0 && blockedCount >= grantedCount
    let isOwnWaiting = !own.isEmpty || !backgroundOwn.isEmpty
    let isGrowing = isAllBlocked && isOwnWaiting
    burst = isGrowing ? sampling.growth : look.isUndecided ? burst : 0
    if isGrowing {
      sampling.growth = min(2 * sampling.growth, 512)
    } else if !look.isUndecided {
      sampling.growth = processorCount
    }
    var actions = retry(now: look.now)
    if isOwnWaiting, look.now - sampling.lastProgressTime >= Self.stallNanoseconds {
      sampling.lastProgressTime = look.now
      if let action = grantBeyondBudget() { actions.append(action) }
    }
    let isBusy = !actions.isEmpty || isAllBlocked || look.isUndecided
    return (actions, plan(isBusy: isBusy, now: look.now))
  }

  private mutating func countBlocked(_ look: Look) {
    for worker in workers.values where worker.isCountedBlocked { unblock(worker) }
    for worker in look.blocked where worker.isGranted {
      worker.isCountedBlocked = true
      blockedCount += 1
    }
  }

  private mutating func notice(_ look: Look) {
    if sampling.lastProgressTime == .min || look.progress != sampling.lastProgress {
      stallCount = 0
      sampling.lastProgress = look.progress
      sampling.lastProgressTime = look.now
    }
    let limit = max(Self.surplusLimit, processorCount)
    dutyAllowance.notice(
      first: duty.first?.number, surplus: dutySurplus, limit: limit, now: look.now)
    completionAllowance.notice(
      first: completion.first?.number, surplus: completionSurplus, limit: limit, now: look.now)
    noticeBackground(now: look.now)
  }

  /// Handles a check of the sampler: if the first request of a background queue has waited for 100 ms, it
  /// comes before other requests, so that background queues never stop completely.
  private mutating func noticeBackground(now: Int64) {
    let numbers = [backgroundShared.first?.number, backgroundOwn.first?.number].compactMap { $0 }
    guard let number = numbers.min() else {
      firstInBackground = nil
      isBackgroundDue = false
      return
    }
    if let firstInBackground, firstInBackground.number == number {
      if now - firstInBackground.time >= Self.backgroundPatience { isBackgroundDue = true }
    } else {
      firstInBackground = (number, now)
    }
  }

  /// Whether the system refuses to start threads, and no thread is idle.
  private var isRefused: Bool {
    workerBackOff.isUnderWay && idle.isEmpty && idleInBackground.isEmpty
  }

  /// Whether no check of the sampler can add a thread at present. When the limit of threads is
  /// reached, one request for the library's own work and one completion block may still get a
  /// thread.
  private var isFutile: Bool { isRefused || isFull && !hasDutiesToServe }

  private mutating func plan(isBusy: Bool, now: Int64) -> Sampling {
    if threadCount == 0, !hasWaiting {
      sampler = .none
      return .end
    }
    if isAtLimit { wantsLimitReport = true }
    sampling.needlessLooks = hasWaiting ? 0 : sampling.needlessLooks + 1
    sampling.isFutile = false
    if sampling.needlessLooks >= Self.patience {
      sampler = .resting
      burst = 0
      return .rest
    }
    let isFutile = isFutile
    sampling.isFutile = isFutile
    let longest = isFutile ? Self.longestFutileInterval : Self.longestInterval
    sampling.interval =
      isBusy && !isFutile ? Self.shortestInterval : min(2 * sampling.interval, longest)
    let wait = isRefused ? min(sampling.interval, workerBackOff.endTime - now) : sampling.interval
    return .again(afterNanoseconds: max(wait, Self.shortestInterval))
  }
}
