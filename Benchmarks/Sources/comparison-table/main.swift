// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Prints the tables of what `swift package benchmark --format histogramSamples` left in the folders
// that are given, one a round, and on what machine. With `--check` before the folders it prints what
// holds on any machine, and fails where it does not hold.

import Comparison
import Foundation

var folders = CommandLine.arguments.dropFirst()
let isCheck = folders.first == "--check"
if isCheck { folders.removeFirst() }

var results = Results()
for folder in folders {
  for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    if let file = SampleFile(name: name, text: text) { results.add(file) }
  }
}
if results.isEmpty {
  print("Nothing was measured: no benchmark has such a name.")
  exit(EXIT_FAILURE)
}
if isCheck {
  let check = Check(results)
  print(check.text, terminator: "")
  exit(check.passes ? EXIT_SUCCESS : EXIT_FAILURE)
}
print(Machine.description)
print("Medians of all samples; rounds: \(results.roundCount).\n")
print(Report(results).text, terminator: "")
