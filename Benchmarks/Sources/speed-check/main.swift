// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures ratios of the queues' speed that are the same on a slow, a fast and a busy machine. The
// program prints the ratios, and exits with a failure if a ratio is above its limit. It takes about
// ten seconds, nearly all of them for Foundation.

import Comparison
import FoundationPeer
import OperationsPeer
import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

let trials = OperationsPeer.SharedTrials.all + FoundationPeer.SharedTrials.all

/// Returns enough samples of a benchmark to measure the given number of operations.
func samples(_ subject: Subject, operations: Int) -> [Int] {
  guard
    let trial = trials.first(where: {
      ($0.workload, $0.contender) == (subject.workload, subject.contender)
    })
  else { fatalError("There is no such benchmark: \(subject)") }
  return (0..<operations / subject.size).flatMap { _ in trial.takeSample(subject.size) }
}

var results = Results()
for pair in CheckedPair.growths + [CheckedPair.alternation] {
  // The two benchmarks of a pair alternate, so that they are measured under the same load. The
  // first round is a warm-up, and its result is not used.
  for round in 0...10 {
    for subject in [pair.subject, pair.other] {
      let samples = samples(subject, operations: 100_000)
      if round > 0 { results.add(samples, of: subject) }
    }
  }
}
for subject in [CheckedPair.chainToFoundation.subject, CheckedPair.chainToFoundation.other] {
  results.add(samples(subject, operations: subject.size), of: subject)
}

let check = Check(results)
print(check.text, terminator: "")
exit(check.passes ? EXIT_SUCCESS : EXIT_FAILURE)
