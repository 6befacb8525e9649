// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Settings of every Swift target; each line names the proposal that explains it.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .treatAllWarnings(as: .error),  // SE-0480
]

let package = Package(
  name: "opq-benchmarks",
  dependencies: [
    .package(name: "opq", path: ".."),
    // No traits: its interposers of malloc and of the Swift runtime would affect every measurement.
    .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "Workloads"),
    .target(
      name: "OperationsPeer",
      dependencies: ["Workloads", .product(name: "Operations", package: "opq")]),
    // The folder `Shared` of both targets is the same folder. Its source is compiled with each
    // library.
    .target(
      name: "FoundationPeer", dependencies: ["Workloads"], swiftSettings: [.define("FOUNDATION")]),
    .target(name: "OtherPeers", dependencies: ["Workloads", "TBBPeer"]),
    .target(
      name: "TBBPeer",
      cxxSettings: [.treatAllWarnings(as: .error)],
      linkerSettings: [.linkedLibrary("tbb")]),
    // The benchmark tool finds benchmarks in a folder of this name.
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
