// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Benchmark
import FoundationPeer
import OperationsPeer
import OtherPeers
import Workloads

/// Makes a benchmark of each trial and size.
enum Registration {
  static func registerAll() {
    let trials =
      OperationsPeer.SharedTrials.all + FoundationPeer.SharedTrials.all + DispatchTrials.all
    for trial in trials {
      for size in trial.sizes { register(trial, size) }
    }
  }

  /// Named so that the tool, which sorts by name, runs the contenders of one workload and size right
  /// after each other: a machine's speed drifts from minute to minute.
  private static func register(_ trial: Trial, _ size: Int) {
    let name = "\(trial.workload.rawValue).\(size).\(trial.contender.rawValue)"
    let metric = BenchmarkMetric.custom(
      trial.workload.measure.rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    var configuration = Benchmark.Configuration()
    configuration.metrics = [metric]
    configuration.units = [metric: .count]
    configuration.warmupIterations = size < 1_000_000 ? 1 : 0
    configuration.maxDuration = size < 1_000_000 ? .seconds(1) : .seconds(3)
    Benchmark(name, configuration: configuration) { benchmark in
      for value in trial.takeSample(size) { benchmark.measurement(metric, value) }
    }
  }
}
