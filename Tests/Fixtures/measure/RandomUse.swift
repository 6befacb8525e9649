// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport

/// Uses opq-top at random, with a million operations in it, under a limit of memory; prints what it found,
/// and ends with status 1 where that is a fault.
///
///     fixture-measure soak [SECONDS [SEED [DEMO]]]
///
/// 30 seconds, a seed of its own and `storm`, where nothing else is said. The same seed does the same, as
/// far as the program is as quick.
///
/// The storm always has a million operations that have not finished, and the monitor keeps 10,000 more; so
/// there is nothing to grow once these are there, and only then the time begins. They take some 1,100 bytes
/// each while they are watched, 1,100 MB. From there gaps between them bring it to some 1,430 MB in four
/// minutes, and there it stays: of the next 8,500,000 operations it kept 44 KiB. The limit of memory is far
/// above that.
enum RandomUse {
  static func run(_ arguments: [String]) throws {
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
  }
}
