// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Trial {
  /// Takes one sample.
  ///
  /// - Returns: The values, in the unit of the workload's measure.
  public func takeSample(_ size: Int) -> [Int] {
    switch body {
    case .values(let measure): return measure(size)
    case .timed(let prepare):
      let work = prepare(size)
      let duration = ContinuousClock().measure(work)
      let nanoseconds = Int(duration / .nanoseconds(1))
      switch workload.measure {
      case .nanosecondsPerOperation: return [nanoseconds / size]
      case .milliseconds: return [nanoseconds / 1_000_000]
      case .nanosecondsToStart, .bytesPerOperation: return []
      }
    }
  }
}
