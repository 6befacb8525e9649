// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Benchmark
import FoundationPeer
import OperationsPeer
import OtherPeers
import Workloads

/// Registers the benchmarks: one for each number of operations (size) of each trial. A trial is the
/// implementation of one workload by one library.
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

  /// Registers one benchmark. Its name begins with the workload and the size. The benchmark tool
  /// sorts benchmarks by name, so it runs the compared libraries of one workload and size one after
  /// the other. This matters because the speed of a machine changes from minute to minute.
  private static func register(_ trial: Trial, _ size: Int) {
    let name = "\(trial.workload.rawValue).\(size).\(trial.contender.rawValue)"
    let metric = BenchmarkMetric.custom(
      trial.workload.measure.rawValue, polarity: .prefersSmaller, useScalingFactor: false)
    var configuration = Benchmark.Configuration()
    configuration.metrics = [metric]
    // The benchmark tool prints single counts as the unit, because counts in thousands would be
    // rounded.
    configuration.units = [metric: .count]
    let effort = Effort(trial.workload, size)
    // The benchmark needs no warm-up, because a slow first sample does not change the median.
    configuration.warmupIterations = 0
    configuration.maxDuration = effort.duration
    configuration.maxIterations = effort.samples
    Benchmark(name, configuration: configuration) { benchmark in
      for value in trial.takeSample(size) { benchmark.measurement(metric, value) }
    }
  }
}
