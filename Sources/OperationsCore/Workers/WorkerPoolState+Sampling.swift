// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WorkerPoolState {
  /// What the sampler saw.
  struct Look {
    /// The workers that run nothing: blocked in the kernel, or their operation has finished.
    var blocked: [Worker] = []
    /// Some workers have used no processor time since the last look, and will be judged by the next.
    var isUndecided = false
    /// How many operations workers have started and left, ever.
    var progress: UInt64 = 0
    /// Nanoseconds on the monotonic clock.
    var now: Int64 = 0
  }

  /// What the sampler does next.
  enum Sampling: Equatable {
    case again(afterNanoseconds: Int64)
    case rest
    /// There is no worker: the sampler's thread ends.
    case end
  }

  /// What the sampler remembers between two looks.
  struct SamplingState {
    /// How many requests of the own lane the next look may grant beyond the budget.
    var growth: Int
    var interval = WorkerPoolState.shortestInterval
    var needlessLooks = 0
    /// Whether the interval is long because a look could add no thread.
    var isFutile = false
    var lastProgress: UInt64 = 0
    /// When something has moved; `.min` before the first look.
    var lastProgressTime = Int64.min
  }

  /// How many requests of a lane may be served beyond the budget: one more for each that has waited for
  /// some milliseconds, because those that are served take long.
  struct SurplusAllowance {
    private static let patience: Int64 = 5_000_000

    private(set) var count = 1
    /// The request that has waited longest, and when it was first seen or last helped.
    private var first: (number: UInt64, time: Int64)?

    /// The sampler has looked.
    ///
    /// - Parameters:
    ///   - number: The number of the request that has waited longest; `nil` if none waits.
    ///   - limit: The greatest allowance.
    ///   - now: Nanoseconds on the monotonic clock.
    mutating func notice(first number: UInt64?, limit: Int, now: Int64) {
      guard let number else {
        self = SurplusAllowance()
        return
      }
      if let first, first.number == number {
        guard now - first.time >= Self.patience else { return }
        count = min(count + 1, limit)
      }
      first = (number, now)
    }
  }

  /// A pause after a failure, twice as long after each.
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

    /// The time has come to this; the pause may be over.
    mutating func pass(_ now: Int64) { if now >= endTime { isUnderWay = false } }

    /// What has failed has succeeded.
    mutating func succeeded() {
      failureCount = 0
      isUnderWay = false
    }
  }

  static let stallNanoseconds: Int64 = 20_000_000
  private static let shortestInterval: Int64 = 1_000_000
  private static let longestInterval: Int64 = 5_000_000
  /// The longest interval while no thread can be added.
  private static let longestFutileInterval: Int64 = 80_000_000
  /// How many looks without need the sampler takes before it rests.
  private static let patience = 3

  /// What is to be done about the sampler after a change.
  ///
  /// It is started before the first worker, and rests: it alone tries again if a thread cannot be started.
  mutating func samplerCommand() -> SamplerCommand {
    switch sampler {
    case .awake:
      // It sleeps for a long time, and could add a thread again.
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

  /// The sampler has looked. Returns what has to be done, and when it looks again.
  mutating func looked(_ look: Look) -> (actions: [Action], next: Sampling) {
    countBlocked(look)
    notice(look)
    let isAllBlocked = blockedCount > 0 && blockedCount >= grantedCount
    let isGrowing = isAllBlocked && !own.isEmpty
    burst = isGrowing ? sampling.growth : look.isUndecided ? burst : 0
    if isGrowing {
      sampling.growth = min(2 * sampling.growth, 512)
    } else if !look.isUndecided {
      sampling.growth = processorCount
    }
    var actions = retry(now: look.now)
    if !own.isEmpty, look.now - sampling.lastProgressTime >= Self.stallNanoseconds {
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
    let limit = max(4, processorCount)
    dutyAllowance.notice(first: duty.first?.number, limit: limit, now: look.now)
    completionAllowance.notice(first: completion.first?.number, limit: limit, now: look.now)
  }

  /// Whether threads are refused, and there is no idle one.
  private var isRefused: Bool { workerBackOff.isUnderWay && idle.isEmpty }

  /// Whether a look can add no thread at present. Duties and completion blocks may get one at the limit.
  private var isFutile: Bool { isRefused || isFull && !hasWaitingDuties }

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
