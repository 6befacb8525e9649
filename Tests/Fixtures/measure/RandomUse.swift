// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Uses opq-top at random with a million operations and a memory limit, prints the results, and
/// ends with status 1 if a fault was found.
///
///     fixture-measure soak [SECONDS [SEED [DEMO]]]
///
/// The defaults are 30 seconds, a new seed and the demo `storm`. The same seed causes the same
/// actions, as far as the program has the same speed.
///
/// The demo `storm` always has a million unfinished operations, and the monitor keeps 10,000
/// finished ones. The time begins when these operations exist, because nothing should grow after
/// that. While they are watched, they need about 1,100 bytes each, or 1,100 MB. Gaps between
/// released operations then increase the memory to about 1,430 MB in four minutes, and no further:
/// during the next 8,500,000 operations, the memory grew by 44 KiB. The memory limit is far higher.
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
