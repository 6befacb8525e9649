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

/// With `OPQ_CORE_ONLY` set, only the library and its tests are there, so that a sanitizer build
/// compiles nothing else.
let isCoreOnly = Context.environment["OPQ_CORE_ONLY"] != nil

/// With `OPQ_DOCUMENTATION` set, `swift package generate-documentation` is there, and only what it is
/// for. Who uses the library never resolves what it needs.
let isDocumentation = Context.environment["OPQ_DOCUMENTATION"] != nil

let coreTargets: [Target] = [
  .target(name: "COperationsSystem", cSettings: [.treatAllWarnings(as: .error)]),
  .target(name: "OperationsCore", dependencies: ["COperationsSystem"]),
  .target(
    name: "Operations",
    // On Apple platforms it re-exports Foundation, and nothing else is built.
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  .target(
    name: "TestSupport", dependencies: ["COperationsSystem", "OperationsCore"],
    path: "Tests/TestSupport"),
  .target(
    name: "MainQueueChecks", dependencies: ["COperationsSystem", "OperationsCore"],
    path: "Tests/Fixtures/MainQueueChecks"),
  .executableTarget(
    name: "fixture-main-queue", dependencies: ["MainQueueChecks"],
    path: "Tests/Fixtures/main-queue"),
  .executableTarget(
    name: "fixture-async-main", dependencies: ["MainQueueChecks", "OperationsCore"],
    path: "Tests/Fixtures/async-main"),
  .executableTarget(
    name: "fixture-async-storm", dependencies: ["OperationsCore", "TestSupport"],
    path: "Tests/Fixtures/async-storm"),
  .executableTarget(
    name: "fixture-endless-chain", dependencies: ["OperationsCore", "TestSupport"],
    path: "Tests/Fixtures/endless-chain"),
  .testTarget(
    name: "OperationsCoreTests",
    dependencies: [
      "OperationsCore", "TestSupport", "fixture-main-queue", "fixture-async-main",
      "fixture-endless-chain", "fixture-async-storm",
    ]),
  .target(name: "ReexportingFoundation", path: "Tests/Fixtures/ReexportingFoundation"),
  .testTarget(
    name: "OperationsTests",
    dependencies: ["Operations", "OperationsCore", "ReexportingFoundation", "TestSupport"]),
  .testTarget(name: "SubclassingTests", dependencies: ["Operations", "TestSupport"]),
]

let foundationTargets: [Target] = [
  .target(
    name: "OperationsFoundation",
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  .testTarget(
    name: "OperationsFoundationTests",
    dependencies: [
      "OperationsFoundation", "Operations", "OperationsCore", "ReexportingFoundation",
      "TestSupport",
    ]),
  // Links to the files of the other two, which the language mode 5 takes too.
  .testTarget(
    name: "ImportsInSwift5Tests",
    dependencies: [
      "OperationsFoundation", "Operations", "OperationsCore", "ReexportingFoundation",
      "TestSupport",
    ],
    swiftSettings: [.swiftLanguageMode(.v5)]),
]

let monitorTargets: [Target] = [
  .target(
    name: "MonitorProtocol",
    dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
    exclude: ["Wire/generate", "Wire/monitor.proto"]),
  .target(
    name: "OperationsMonitor",
    dependencies: [
      "OperationsCore", "COperationsSystem", "MonitorProtocol",
      .product(name: "Histogram", package: "hdrhistogram-swift"),
      .product(name: "Logging", package: "swift-log"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ]),
  .target(
    name: "OperationsTelemetry",
    dependencies: [
      "OperationsCore", "COperationsSystem", "OperationsMonitor", "MonitorProtocol",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]),
  .target(name: "Dashboard", dependencies: ["MonitorProtocol"]),
  .target(
    name: "RunAnalysis",
    dependencies: ["MonitorProtocol", .product(name: "HeapModule", package: "swift-collections")]),
  .target(
    name: "CNCurses",
    cSettings: [.treatAllWarnings(as: .error)],
    linkerSettings: [.linkedLibrary("ncursesw")]),
  .target(name: "CursesTerminal", dependencies: ["CNCurses", "COperationsSystem", "Dashboard"]),
  .target(name: "DemoWorkloads", dependencies: ["Operations"]),
  .executableTarget(
    name: "opq-top",
    dependencies: [
      "Dashboard", "CursesTerminal", "OperationsMonitor", "DemoWorkloads", "MonitorProtocol",
      "RunAnalysis",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ], exclude: ["BatchOutput.md", "Export.md", "Scripting.md", "Packaging"]),
  .executableTarget(
    name: "demo-quickstart", dependencies: ["Operations"], path: "demos/quickstart",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-dependencies", dependencies: ["Operations"], path: "demos/dependencies",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-async-await", dependencies: ["Operations"], path: "demos/async-await",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-cancellation", dependencies: ["Operations"], path: "demos/cancellation",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-combining", dependencies: ["Operations"], path: "demos/combining",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-observing", dependencies: ["Operations"], path: "demos/observing",
    exclude: ["expected.txt"]),
  .executableTarget(
    name: "demo-monitored-process", dependencies: ["DemoWorkloads", "OperationsMonitor"],
    path: "demos/monitored-process"),
  .executableTarget(
    name: "demo-moving-from-foundation", dependencies: ["OperationsFoundation"],
    path: "demos/moving-from-foundation", exclude: ["expected.txt"]),
  .testTarget(name: "MonitorProtocolTests", dependencies: ["MonitorProtocol", "TestSupport"]),
  .testTarget(
    name: "OperationsMonitorTests",
    dependencies: [
      "Operations", "OperationsMonitor", "MonitorProtocol", "COperationsSystem", "TestSupport",
      "opq-top",
      .product(name: "Logging", package: "swift-log"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ]),
  .testTarget(
    name: "OperationsTelemetryTests",
    dependencies: [
      "Operations", "OperationsTelemetry", "OperationsMonitor", "MonitorProtocol", "TestSupport",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "MetricsTestKit", package: "swift-metrics"),
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]),
  .testTarget(
    name: "DashboardTests", dependencies: ["Dashboard", "MonitorProtocol"], exclude: ["Golden"]),
  .testTarget(
    name: "RunAnalysisTests", dependencies: ["RunAnalysis", "MonitorProtocol", "TestSupport"]),
  .testTarget(
    name: "CursesTerminalTests",
    dependencies: ["CursesTerminal", "Dashboard", "TestSupport"]),
  .testTarget(
    name: "DemoWorkloadsTests", dependencies: ["DemoWorkloads", "Operations", "TestSupport"]),
  .testTarget(
    name: "EndToEndTests",
    dependencies: [
      "opq-top", "MonitorProtocol", "Operations", "OperationsMonitor", "RunAnalysis", "TestSupport",
      "fixture-hostile-names", "demo-monitored-process",
    ]),
  // Has a link to the program's sources, for its loop; not to where the program begins.
  .executableTarget(
    name: "fixture-hostile-names",
    dependencies: [
      "Dashboard", "CursesTerminal", "OperationsMonitor", "DemoWorkloads", "MonitorProtocol",
      "RunAnalysis",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ], path: "Tests/Fixtures/hostile-names",
    exclude: [
      "Program/main.swift", "Program/BatchOutput.md", "Program/Export.md", "Program/Scripting.md",
      "Program/Packaging",
    ]),
  .executableTarget(
    name: "fixture-soak", dependencies: ["opq-top", "TestSupport"], path: "Tests/Fixtures/soak"),
  .executableTarget(
    name: "monitor-overhead",
    dependencies: ["Operations", "OperationsMonitor", "opq-top", "TestSupport"],
    path: "Tests/Fixtures/monitor-overhead"),
  .executableTarget(
    name: "telemetry-overhead",
    dependencies: [
      "Operations", "OperationsTelemetry", "TestSupport",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ], path: "Tests/Fixtures/telemetry-overhead"),
  .executableTarget(
    name: "dashboard-figures", dependencies: ["opq-top", "TestSupport"],
    path: "Tests/Fixtures/dashboard-figures"),
]

let package = Package(
  name: "opq",
  products: [
    .library(name: "Operations", targets: ["Operations"])
  ]
    + (isCoreOnly
      ? []
      : [
        .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
        .library(name: "OperationsMonitor", targets: ["OperationsMonitor"]),
        .library(name: "OperationsTelemetry", targets: ["OperationsTelemetry"]),
        .executable(name: "opq-top", targets: ["opq-top"]),
      ]),
  dependencies: isCoreOnly
    ? []
    : [
      .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
      .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
      .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
      .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
      .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
      .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
      .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
      .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
  targets: isCoreOnly
    ? coreTargets : coreTargets + foundationTargets + monitorTargets,
  swiftLanguageModes: [.v6]
)

if isDocumentation {
  let documented: Set<String> = ["COperationsSystem", "OperationsCore", "OperationsFoundation"]
  package.targets.removeAll { !documented.contains($0.name) }
  package.products = []
  package.dependencies = [
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")
  ]
}

/// The targets written in C.
let cTargets: Set<String> = ["COperationsSystem", "CNCurses"]

/// Holds classes as other people write them, which must compile as they are: its settings are those
/// of a new package, and a warning is no error.
let lenientTargets: Set<String> = ["SubclassingTests"]

for target in package.targets
where !cTargets.union(lenientTargets).contains(target.name) {
  target.swiftSettings = strict + (target.swiftSettings ?? [])
}
