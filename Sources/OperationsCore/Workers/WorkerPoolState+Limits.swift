// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WorkerPoolState {
  /// The number of waiting requests that are not for background queues.
  var foregroundCount: Int { duty.count + completion.count + shared.count + own.count }
  /// The number of waiting requests for background queues.
  var backgroundCount: Int { backgroundShared.count + backgroundOwn.count }
  var waitingCount: Int { foregroundCount + backgroundCount }
  /// The number of waiting requests to run the program's operations, but not its completion blocks.
  var waitingOperationsCount: Int { shared.count + own.count + backgroundCount }
  var hasWaiting: Bool { waitingCount > 0 }
  /// Whether a request for the library's own work or for a completion block waits and may get a thread, even
  /// if the limit of threads is reached. The limit allows one additional thread for each of the two.
  var hasDutiesToServe: Bool {
    !duty.isEmpty && dutyCount == 0 || !completion.isEmpty && completionCount == 0
  }
  /// Whether as many threads as the limit allows serve requests. One thread with the library's own work and
  /// one thread with a completion block do not count.
  var isFull: Bool {
    grantedCount - min(dutyCount, 1) - min(completionCount, 1) >= threadLimit
  }
  /// Whether a request waits only because the limit of threads is reached.
  var isAtLimit: Bool {
    isFull
      && (!shared.isEmpty && fits(.shared, within: budget)
        || !own.isEmpty && fits(.own, within: budget)
        || backgroundCount > 0 && shared.isEmpty && own.isEmpty)
  }
  var surplusCount: Int { dutySurplus + completionSurplus }

  var budget: Int { processorCount + blockedCount + surplusCount + stallCount }

  /// Whether more threads serve requests than the budget allows, so that a worker should stop soon.
  var isOverBudget: Bool { grantedCount > budget + burst }

  /// The budget of running threads for new requests. Blocked workers count only while the sampler checks
  /// them.
  var currentBudget: Int { sampler == .awake ? budget : budget - blockedCount }

  private func fits(_ lane: Lane, within budget: Int) -> Bool {
    switch lane {
    case .duty: grantedCount < budget || dutySurplus < dutyAllowance.count
    case .completion: grantedCount < budget || completionSurplus < completionAllowance.count
    case .shared, .backgroundShared: grantedCount < budget
    case .own, .backgroundOwn: grantedCount < budget + burst
    }
  }

  mutating func mayGrant(_ lane: Lane, within budget: Int) -> Bool {
    guard fits(lane, within: budget) else { return false }
    guard isFull else { return true }
    switch lane {
    case .duty: return dutyCount == 0
    case .completion: return completionCount == 0
    case .shared, .own, .backgroundShared, .backgroundOwn:
      wantsLimitReport = true
      return false
    }
  }

  /// Raises the limit of threads to the width of a queue plus the number of processors, if that is greater.
  mutating func raiseLimit(toServe width: Int) {
    // The width `Int.max` requests no particular number of threads.
    guard isLimitRaised, width > 0, width < .max else { return }
    let (sum, isTooLarge) = width.addingReportingOverflow(processorCount)
    threadLimit = max(threadLimit, isTooLarge ? .max - Self.reserve : sum)
  }
}
