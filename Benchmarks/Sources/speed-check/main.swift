// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures what of the queues' speed is the same on a slow, a fast and a busy machine, prints it, and
// fails where it is not as it should be. Takes some ten seconds, nearly all of them Foundation's.

import Comparison
import FoundationPeer
import Glibc
import OperationsPeer
import Workloads

let trials = OperationsPeer.SharedTrials.all + FoundationPeer.SharedTrials.all

/// As many samples as make so many operations.
func samples(_ subject: Subject, operations: Int) -> [Int] {
  guard
    let trial = trials.first(where: {
      ($0.workload, $0.contender) == (subject.workload, subject.contender)
    })
  else { fatalError("There is no such benchmark: \(subject)") }
  return (0..<operations / subject.size).flatMap { _ in trial.takeSample(subject.size) }
}

var results = Results()
for pair in CheckedPair.growths {
  // Turn by turn, so that both see the same machine; the first ones see it cold.
  for round in 0...10 {
    for subject in [pair.subject, pair.other] {
      let samples = samples(subject, operations: pair.subject.size)
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
