// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Uses opq-top at random, with a million operations in it, under a limit of memory; prints what it found,
// and ends with status 1 where that is a fault.
//
//   fixture-soak [SECONDS [SEED [DEMO]]]
//
// A watched storm takes some 1,200 MB; the limit is twice that.
//
// 30 seconds, a seed of its own and `storm`, where nothing else is said. The same seed does the same.

import Glibc
import TestSupport

let arguments = CommandLine.arguments.dropFirst()
let seconds = arguments.first.flatMap { Int($0) } ?? 30
let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
let demo = arguments.dropFirst(2).first ?? "storm"

print("\(demo) for \(seconds) s with seed \(seed)")
fflush(nil)
var soak = try Soak(
  seed: seed, path: BuiltFolder.path(of: "opq-top"), arguments: ["demo", demo],
  memoryLimit: 2_500_000)
let figures = soak.run(for: .seconds(seconds), fromOperations: demo == "storm" ? 1_000_000 : 1)
print(figures)
exit(figures.faults.isEmpty ? 0 : 1)
