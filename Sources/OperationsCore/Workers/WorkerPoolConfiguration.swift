// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The configuration of a pool of workers.
struct WorkerPoolConfiguration: Equatable, Sendable {
  /// The number of processors to keep busy; at least 1.
  var processorCount: Int
  /// The maximum number of threads, including blocked workers; `nil` for the pool's own limit.
  var threadLimit: Int?
  /// The size of a worker's stack in bytes; 0 for the default of the system.
  var stackSize: Int

  init(processorCount: Int, threadLimit: Int? = nil, stackSize: Int = 0) {
    self.processorCount = max(1, min(processorCount, threadLimit ?? .max))
    self.threadLimit = threadLimit
    self.stackSize = stackSize
  }

  /// Returns the configuration that is in effect. Each value is the one that the program has set;
  /// otherwise, that of the environment; otherwise, the default.
  ///
  /// - Parameters:
  ///   - configuration: The valid values of the program.
  ///   - environment: Returns the value of an environment variable.
  ///   - availableProcessors: Returns the number of processors. It is called if neither the program
  ///     nor the environment sets this number.
  /// - Returns: The configuration, and one sentence for each variable with an invalid value.
  static func resolve(
    _ configuration: WorkerConfiguration, environment: (String) -> String?,
    availableProcessors: () -> Int
  ) -> (WorkerPoolConfiguration, faults: [String]) {
    var faults: [String] = []
    func value(of setting: WorkerConfiguration.Setting) -> Int? {
      // The environment variable is read even if the program has set the value, so that a mistake
      // in the variable is always reported.
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
