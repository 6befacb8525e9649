// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// The compiler settings of every Swift target. The comment after each setting names the Swift
/// Evolution proposal that explains the setting.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // Swift Evolution proposal SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // Swift Evolution proposal SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // Swift Evolution proposal SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // Swift Evolution proposal SE-0461
  .treatAllWarnings(as: .error),  // Swift Evolution proposal SE-0480
]

let package = Package(
  name: "opq-benchmarks",
  dependencies: [
    // The benchmarks need only the library, so the traits of this package are disabled.
    .package(name: "opq", path: "..", traits: []),
    // This package uses the benchmark library without its traits (optional features). The traits
    // replace malloc and functions of the Swift runtime, and the replacements would affect every
    // measurement.
    .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "Workloads"),
    .target(
      name: "OperationsPeer",
      dependencies: ["Workloads", .product(name: "Operations", package: "opq")]),
    // The targets OperationsPeer and FoundationPeer contain the same folder `Shared`. The source
    // files in this folder are compiled twice: once with this package's library, and once with
    // Foundation.
    .target(
      name: "FoundationPeer", dependencies: ["Workloads"], swiftSettings: [.define("FOUNDATION")]),
    .target(name: "OtherPeers", dependencies: ["Workloads", "TBBPeer"]),
    .target(
      name: "TBBPeer",
      cxxSettings: [.treatAllWarnings(as: .error)],
      linkerSettings: [.linkedLibrary("tbb")]),
    // The benchmark tool finds only benchmarks in a folder with the name `Benchmarks`.
    .executableTarget(
      name: "Queues",
      dependencies: [
        "Workloads", "OperationsPeer", "FoundationPeer", "OtherPeers",
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/Queues"),
    .target(name: "Comparison", dependencies: ["Workloads"]),
    .executableTarget(name: "comparison-table", dependencies: ["Comparison"]),
    .executableTarget(
      name: "instruction-probe", dependencies: [.product(name: "Operations", package: "opq")]),
    .executableTarget(
      name: "graph-phases",
      dependencies: ["Comparison", "Workloads", .product(name: "Operations", package: "opq")]),
    .executableTarget(
      name: "makespan",
      dependencies: ["Comparison", "Workloads", .product(name: "Operations", package: "opq")]),
    .executableTarget(
      name: "processor-check", dependencies: [.product(name: "Operations", package: "opq")]),
    .executableTarget(
      name: "speed-check",
      dependencies: ["Workloads", "OperationsPeer", "FoundationPeer", "Comparison"]),
    .testTarget(name: "ComparisonTests", dependencies: ["Comparison"]),
    .testTarget(name: "WorkloadsTests", dependencies: ["Workloads"]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

for target in package.targets where target.name != "TBBPeer" {
  target.swiftSettings = strict + (target.swiftSettings ?? [])
}
