// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Prints the machine, and tables of the results that
// `swift package benchmark --format histogramSamples` wrote to the given folders. Each folder has
// the results of one round.

import Comparison
import Foundation

var results = Results()
for folder in CommandLine.arguments.dropFirst() {
  for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    if let file = SampleFile(name: name, text: text) { results.add(file) }
  }
}
if results.isEmpty {
  print("Nothing was measured: no benchmark has such a name.")
  exit(EXIT_FAILURE)
}
print(Machine.description)
print("Medians of all samples; rounds: \(results.roundCount).\n")
print(Report(results).text, terminator: "")
