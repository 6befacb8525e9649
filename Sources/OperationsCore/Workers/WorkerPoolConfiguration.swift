// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc

/// What a pool of workers is made with.
struct WorkerPoolConfiguration: Equatable, Sendable {
  /// The processors to keep busy; at least 1.
  var processorCount: Int
  /// The most threads that there may be, the workers that are blocked included; `nil` for the pool's own
  /// bound.
  var threadLimit: Int?
  /// The size of a worker's stack in bytes; 0 is the size that the system gives.
  var stackSize: Int

  init(processorCount: Int, threadLimit: Int? = nil, stackSize: Int = 0) {
    self.processorCount = max(1, min(processorCount, threadLimit ?? .max))
    self.threadLimit = threadLimit
    self.stackSize = stackSize
  }

  /// What the program has set, then what the environment sets, then the defaults.
  ///
  /// - Parameters:
  ///   - configuration: What the program has set; its values are valid.
  ///   - environment: The values of variables.
  ///   - availableProcessors: Called if the number of processors is set by neither.
  /// - Returns: The configuration, and one sentence for each variable that has no valid value.
  static func resolve(
    _ configuration: WorkerConfiguration, environment: (String) -> String?,
    availableProcessors: () -> Int
  ) -> (WorkerPoolConfiguration, faults: [String]) {
    var faults: [String] = []
    func value(of setting: WorkerConfiguration.Setting) -> Int? {
      // Read also if the program has set the value: a mistake is reported in any case.
      guard let text = environment(setting.variable) else { return configuration[setting] }
      let number = Int(text).flatMap { setting.range.contains($0) ? $0 : nil }
      if number == nil {
        faults.append(
          "\(setting.variable) is “\(text.prefix(40))”, which is not a whole number from "
            + "\(setting.range.lowerBound) to \(setting.range.upperBound): it is ignored.")
      }
      return configuration[setting] ?? number
    }
    let processorCount = value(of: .processorCount)
    let threadLimit = value(of: .threadLimit)
    let stackSize = value(of: .stackSize)
    let resolved = WorkerPoolConfiguration(
      processorCount: processorCount ?? availableProcessors(), threadLimit: threadLimit,
      stackSize: stackSize ?? 0)
    return (resolved, faults)
  }
}
