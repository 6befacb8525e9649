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
    for trial in trials {
      for size in trial.sizes { register(trial, size) }
    }
  }

  private static var trials: [Trial] {
    OperationsPeer.SharedTrials.all + ObservingTrials.all + FoundationPeer.SharedTrials.all
      + DispatchTrials.all + TaskGroupTrials.all + TBBTrials.all
  }

  /// Named so that the tool, which sorts by name, runs the contenders of one workload and size right
  /// after each other: a machine's speed drifts from minute to minute.
  private static func register(_ trial: Trial, _ size: Int) {
    let name = "\(trial.workload.rawValue).\(size).\(trial.contender.rawValue)"
    let metric = BenchmarkMetric.custom(
      trial.workload.measure.rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    var configuration = Benchmark.Configuration()
    configuration.metrics = [metric]
    // Not scaled to thousands, which would round.
    configuration.units = [metric: .count]
    let effort = Effort(trial.workload, size)
    // The median does not see that the first sample was cold.
    configuration.warmupIterations = 0
    configuration.maxDuration = effort.duration
    configuration.maxIterations = effort.samples
    Benchmark(name, configuration: configuration) { benchmark in
      for value in trial.takeSample(size) { benchmark.measurement(metric, value) }
    }
  }
}
