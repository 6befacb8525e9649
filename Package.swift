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

/// A program in `demos`. One that ends by itself has what it prints in `expected.txt`.
func demo(
  _ name: String, _ dependencies: [Target.Dependency] = ["Operations"], ends: Bool = true
) -> Target {
  .executableTarget(
    name: "demo-\(name)", dependencies: dependencies, path: "demos/\(name)",
    exclude: ends ? ["expected.txt"] : [])
}

/// A program in `Tests/Fixtures`, for what a test needs in a process of its own.
func fixture(
  _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = []
) -> Target {
  .executableTarget(
    name: "fixture-\(name)", dependencies: dependencies, path: "Tests/Fixtures/\(name)",
    swiftSettings: settings)
}

/// The libraries of the viewer.
let viewerLibraries: [Target.Dependency] = [
  "Dashboard", "CursesTerminal", "MonitorClient", "MonitorProtocol", "RunAnalysis",
]

/// These libraries, and the program that uses them.
let viewer = viewerLibraries + ["OpqTop"]

let coreTargets: [Target] = [
  .target(name: "COperationsSystem", cSettings: [.treatAllWarnings(as: .error)]),
  // Not for the library: a screen in the tests measures characters with it.
  .target(name: "CTerminalSystem", cSettings: [.treatAllWarnings(as: .error)]),
  .target(name: "OperationsCore", dependencies: ["COperationsSystem"]),
  .target(
    name: "Operations",
    // On Apple platforms it re-exports Foundation, and nothing else is built.
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  .target(
    name: "TestSupport", dependencies: ["COperationsSystem", "CTerminalSystem", "OperationsCore"],
    path: "Tests/TestSupport"),
  .target(
    name: "RandomPrograms", dependencies: ["OperationsCore", "TestSupport"],
    path: "Tests/RandomPrograms", exclude: ["README.md"]),
  .target(
    name: "MainQueueChecks", dependencies: ["COperationsSystem", "OperationsCore"],
    path: "Tests/Fixtures/MainQueueChecks"),
  // Has an asynchronous `main`, which the others cannot share.
  fixture("async-main", ["MainQueueChecks", "OperationsCore"]),
  fixture("programs", ["MainQueueChecks", "OperationsCore", "TestSupport"]),
  .testTarget(
    name: "OperationsCoreTests",
    dependencies: [
      "COperationsSystem", "OperationsCore", "RandomPrograms", "TestSupport", "fixture-async-main",
      "fixture-programs",
    ]),
  .target(name: "ReexportingFoundation", path: "Tests/Fixtures/ReexportingFoundation"),
  .target(name: "OtherOperations", path: "Tests/Fixtures/OtherOperations"),
  .testTarget(
    name: "OperationsTests",
    dependencies: [
      "Operations", "OperationsCore", "OtherOperations", "ReexportingFoundation", "TestSupport",
    ]),
  .testTarget(name: "SubclassingTests", dependencies: ["Operations", "TestSupport"]),
  .testTarget(
    name: "SubclassShapesTests", dependencies: ["Operations", "TestSupport"],
    exclude: ["README.md"]),
  // Has links to the files of the other one, which the language mode 5 takes too.
  .testTarget(
    name: "SubclassShapesInSwift5Tests", dependencies: ["Operations", "TestSupport"],
    swiftSettings: [.swiftLanguageMode(.v5)]),
]

let foundationTargets: [Target] = [
  .target(
    name: "OperationsFoundation",
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  fixture("shapes-foundation", ["TestSupport"], settings: [.define("CORPUS_FOUNDATION")]),
  .testTarget(
    name: "OperationsFoundationTests",
    dependencies: [
      "OperationsFoundation", "Operations", "OperationsCore", "ReexportingFoundation",
      "TestSupport", "fixture-shapes-foundation",
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

/// SwiftNIO, for whatever has a socket.
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

let demoTargets: [Target] = [
  demo("quickstart"),
  demo("dependencies"),
  demo("async-await"),
  demo("cancellation"),
  demo("combining"),
  demo("observing"),
  demo("monitored-process", ["DemoWorkloads", "OperationsMonitor"], ends: false),
  demo("moving-from-foundation", ["OperationsFoundation"]),
]

let monitorTargets: [Target] = [
  .target(
    name: "MonitorProtocol",
    dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
    exclude: ["Wire/generate", "Wire/monitor.proto"]),
  .target(
    name: "OperationsCollector",
    dependencies: [
      "OperationsCore", "COperationsSystem", "MonitorProtocol",
      .product(name: "Histogram", package: "hdrhistogram-swift"),
    ]),
  .target(name: "CMonitorTransport", cSettings: [.treatAllWarnings(as: .error)]),
  .target(
    name: "MonitorTransport",
    dependencies: ["CMonitorTransport", "COperationsSystem", "MonitorProtocol"] + nio),
  .target(
    name: "OperationsMonitor",
    dependencies: [
      "OperationsCore", "CMonitorTransport", "COperationsSystem", "OperationsCollector",
      "MonitorProtocol", "MonitorTransport", .product(name: "Logging", package: "swift-log"),
    ] + nio),
  .target(
    name: "OperationsTelemetry",
    dependencies: [
      "OperationsCore", "COperationsSystem", "OperationsCollector", "MonitorProtocol",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]),
]

let viewerTargets: [Target] = [
  .target(name: "Dashboard", dependencies: ["MonitorProtocol"]),
  .target(
    name: "RunAnalysis",
    dependencies: ["MonitorProtocol", .product(name: "HeapModule", package: "swift-collections")]),
  .target(name: "MonitorClient", dependencies: ["MonitorProtocol", "MonitorTransport"] + nio),
  .target(
    name: "CNCurses",
    cSettings: [.treatAllWarnings(as: .error)],
    linkerSettings: [.linkedLibrary("ncursesw")]),
  .target(name: "CursesTerminal", dependencies: ["CNCurses", "CTerminalSystem", "Dashboard"]),
  .target(name: "DemoWorkloads", dependencies: ["Operations"]),
  .target(
    name: "OpqTop",
    dependencies: viewerLibraries + [
      "DemoWorkloads", "OperationsCollector",
      // Linked, but not imported, so that viewers can attach to the process of a demo.
      "OperationsMonitor",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]),
  .executableTarget(
    name: "opq-top", dependencies: ["OpqTop"],
    exclude: ["BatchOutput.md", "Export.md", "Scripting.md", "Packaging"]),
]

let monitorTestTargets: [Target] = [
  .target(
    name: "MonitorTestSupport", dependencies: ["MonitorProtocol", "RunAnalysis", "TestSupport"],
    path: "Tests/MonitorTestSupport"),
  .testTarget(name: "MonitorProtocolTests", dependencies: ["MonitorProtocol", "TestSupport"]),
  .testTarget(
    name: "OperationsCollectorTests",
    dependencies: [
      "Operations", "OperationsCore", "OperationsCollector", "MonitorProtocol", "TestSupport",
    ]),
  .testTarget(
    name: "OperationsMonitorTests",
    dependencies: [
      "Operations", "OperationsCore", "OperationsCollector", "OperationsMonitor",
      "MonitorProtocol", "MonitorTransport", "CMonitorTransport", "TestSupport", "opq-top",
      .product(name: "Logging", package: "swift-log"),
    ] + nio),
  .testTarget(
    name: "OperationsTelemetryTests",
    dependencies: [
      "Operations", "OperationsTelemetry", "OperationsCollector", "MonitorProtocol", "TestSupport",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "MetricsTestKit", package: "swift-metrics"),
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]),
  .testTarget(
    name: "DashboardTests", dependencies: ["Dashboard", "MonitorProtocol", "TestSupport"],
    exclude: ["Golden"]),
  .testTarget(
    name: "RunAnalysisTests",
    dependencies: ["RunAnalysis", "MonitorProtocol", "MonitorTestSupport", "TestSupport"]),
  .testTarget(
    name: "MonitorClientTests",
    dependencies: ["MonitorClient", "MonitorProtocol", "MonitorTransport", "TestSupport"]),
  .testTarget(
    name: "CursesTerminalTests",
    dependencies: ["CursesTerminal", "Dashboard", "TestSupport"]),
  .testTarget(
    name: "DemoWorkloadsTests", dependencies: ["DemoWorkloads", "Operations", "TestSupport"]),
  .testTarget(
    name: "OpqTopTests",
    dependencies: viewer + [
      "MonitorTestSupport", "Operations", "OperationsCollector", "TestSupport",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]),
  .testTarget(
    name: "EndToEndTests",
    dependencies: viewer + [
      "opq-top", "MonitorTestSupport", "MonitorTransport", "Operations", "TestSupport",
      "fixture-hostile-names", "demo-monitored-process",
    ],
    exclude: ["TerminalCases.md"]),
  fixture(
    "hostile-names",
    viewer + [.product(name: "ArgumentParser", package: "swift-argument-parser")]),
  fixture(
    "measure",
    [
      "Operations", "OperationsMonitor", "OperationsTelemetry", "TestSupport", "opq-top",
      .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "Tracing", package: "swift-distributed-tracing"),
    ]),
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
    ? coreTargets
    : coreTargets + foundationTargets + monitorTargets + viewerTargets + demoTargets
      + monitorTestTargets,
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
let cTargets: Set<String> = [
  "COperationsSystem", "CMonitorTransport", "CTerminalSystem", "CNCurses",
]

/// Hold classes as other people write them, which must compile as they are: their settings are those
/// of a new package, and a warning is no error.
let lenientTargets: Set<String> = [
  "SubclassingTests", "SubclassShapesTests", "SubclassShapesInSwift5Tests",
  "fixture-shapes-foundation",
]

for target in package.targets
where !cTargets.union(lenientTargets).contains(target.name) {
  target.swiftSettings = strict + (target.swiftSettings ?? [])
}
