// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// The compiler settings of the Swift targets of this package. The comment after each setting names the Swift
/// Evolution proposal that explains it.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // Swift Evolution proposal SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // Swift Evolution proposal SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // Swift Evolution proposal SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // Swift Evolution proposal SE-0461
  .treatAllWarnings(as: .error),  // Swift Evolution proposal SE-0480
]

/// If the environment variable `OPQ_CORE_ONLY` is set, the package consists of the library and its tests, so
/// that a sanitizer build compiles nothing else.
let isCoreOnly = Context.environment["OPQ_CORE_ONLY"] != nil

/// If the environment variable `OPQ_DOCUMENTATION` is set, the package has the command `swift package
/// generate-documentation` and only the documented targets. Otherwise the package does not depend on the DocC
/// plugin, so users of the library never download the plugin.
let isDocumentation = Context.environment["OPQ_DOCUMENTATION"] != nil

/// Creates a dependency on a product of another package. The dependency exists only if one of these traits of this
/// package is enabled. `.ci/check-release` refuses a dependency without a trait, because all users of the library
/// would fetch its package.
func product(_ name: String, _ package: String, for traits: String...) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: Set(traits)))
}

let argumentParser = product("ArgumentParser", "swift-argument-parser", for: "Monitor")
let logging = product("Logging", "swift-log", for: "Monitor", "Lifecycle")
let metrics = product("CoreMetrics", "swift-metrics", for: "Telemetry")
let tracing = product("Tracing", "swift-distributed-tracing", for: "Telemetry")
let inMemoryTracing = product("InMemoryTracing", "swift-distributed-tracing", for: "Telemetry")
let serviceLifecycle = product("ServiceLifecycle", "swift-service-lifecycle", for: "Lifecycle")
let yams = product("Yams", "Yams", for: "Monitor")
let subprocess = product("Subprocess", "swift-subprocess", for: "Commands")
let systemPackage = product("SystemPackage", "swift-system", for: "Commands")

/// Creates dependencies on targets that do not compile without a trait.
///
/// A product needs a trait if its target depends on the target `MonitorTrait`, for example, which contains only an
/// error for a program that has not enabled the trait. This error is the only one if SwiftPM does not build the
/// other targets.
func targets(_ names: String..., for trait: String) -> [Target.Dependency] {
  names.map { .target(name: $0, condition: .when(traits: [trait])) }
}

/// Creates the target of a program in `demos`. If the program ends by itself, the file `expected.txt`
/// contains its expected output.
func demo(
  _ name: String, _ dependencies: [Target.Dependency] = ["Operations"], ends: Bool = true
) -> Target {
  .executableTarget(
    name: "demo-\(name)", dependencies: dependencies, path: "demos/\(name)",
    exclude: ends ? ["expected.txt"] : [])
}

/// Creates the target of a program in `Tests/Fixtures`, which a test runs in a separate process.
func fixture(
  _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = []
) -> Target {
  .executableTarget(
    name: "fixture-\(name)", dependencies: dependencies, path: "Tests/Fixtures/\(name)",
    swiftSettings: settings)
}

/// Creates a target of tests, whose name ends with `Tests`.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
  settings: [SwiftSetting] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], exclude: exclude,
    swiftSettings: settings)
}

/// The libraries from which the viewer opq-top is built.
let viewerLibraries: [Target.Dependency] = [
  "Dashboard", "CursesTerminal", "MonitorClient", "MonitorProtocol", "RunAnalysis",
]

/// The libraries of the viewer opq-top, the module OpqTop with the viewer's commands, and those about jobs.
let viewer = viewerLibraries + ["OpqTop", "JobFiles", "JobRun", "OperationsCommands"]

let coreTargets: [Target] = [
  .target(name: "COperationsSystem", cSettings: [.treatAllWarnings(as: .error)]),
  // Only the tests of the library use CMonitorSystem, to measure the width of characters.
  .target(
    name: "CMonitorSystem",
    cSettings: [.treatAllWarnings(as: .error)],
    linkerSettings: [.linkedLibrary("m")]),
  .target(name: "OperationsCore", dependencies: ["COperationsSystem"]),
  .target(
    name: "Operations",
    // On Apple platforms the target Operations re-exports Foundation, so it needs no other target.
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  .target(name: "OperationsTesting", dependencies: ["OperationsCore", "COperationsSystem"]),
  tests("OperationsTesting", ["OperationsTesting", "OperationsCore"]),
  // The fixtures `programs` and `measure` can link the Swift runtime statically, because this module does not use
  // the testing library.
  .target(
    name: "FixtureSupport", dependencies: ["COperationsSystem", "CMonitorSystem"],
    path: "Tests/FixtureSupport"),
  .target(name: "TestSupport", dependencies: ["FixtureSupport"], path: "Tests/TestSupport"),
  .target(
    name: "RandomPrograms", dependencies: ["OperationsCore", "TestSupport"],
    path: "Tests/RandomPrograms", exclude: ["README.md"]),
  .target(
    name: "MainQueueChecks", dependencies: ["COperationsSystem", "OperationsCore"],
    path: "Tests/Fixtures/MainQueueChecks"),
  // The fixture `async-main` has an asynchronous `main`, and a program can have only one `main`. Therefore it is
  // not a part of the fixture `programs`, which contains the other fixtures of the core.
  fixture("async-main", ["MainQueueChecks", "OperationsCore"]),
  fixture("programs", ["MainQueueChecks", "OperationsCore", "FixtureSupport"]),
  tests(
    "OperationsCore",
    [
      "COperationsSystem", "OperationsCore", "RandomPrograms", "fixture-async-main",
      "fixture-programs",
    ]),
  .target(name: "ReexportingFoundation", path: "Tests/Fixtures/ReexportingFoundation"),
  .target(name: "OtherOperations", path: "Tests/Fixtures/OtherOperations"),
  tests(
    "Operations", ["Operations", "OperationsCore", "OtherOperations", "ReexportingFoundation"]),
  tests("Subclassing", ["Operations"]),
  tests("SubclassShapes", ["Operations"], exclude: ["README.md"]),
  // Links to the files of SubclassShapesTests, which are compiled in the Swift 5 language mode.
  tests("SubclassShapesInSwift5", ["Operations"], settings: [.swiftLanguageMode(.v5)]),
]

let foundationTargets: [Target] = [
  .target(
    name: "OperationsFoundation",
    dependencies: [.target(name: "OperationsCore", condition: .when(platforms: [.linux]))]),
  // The fixture `shapes-foundation` compiles the test subclasses of Operation with Foundation. It is a
  // separate program, because the fixture `programs` must not link Foundation.
  fixture("shapes-foundation", ["TestSupport"], settings: [.define("CORPUS_FOUNDATION")]),
  tests(
    "OperationsFoundation",
    [
      "OperationsFoundation", "Operations", "OperationsCore", "ReexportingFoundation",
      "fixture-shapes-foundation",
    ]),
  // Links to test files of other targets, which are compiled in the Swift 5 language mode.
  tests(
    "ImportsInSwift5",
    ["OperationsFoundation", "Operations", "OperationsCore", "ReexportingFoundation"],
    settings: [.swiftLanguageMode(.v5)]),
]

/// The SwiftNIO products for targets that use sockets.
let nio = ["NIOCore", "NIOPosix"].map { product($0, "swift-nio", for: "Monitor") }

/// The dependencies of the demo `service`: a web server, traces and a service group.
let serviceDemo: [Target.Dependency] =
  nio + [
    "Operations", "OperationsLifecycle", "OperationsTelemetry", logging, tracing, inMemoryTracing,
    serviceLifecycle, product("UnixSignals", "swift-service-lifecycle", for: "Lifecycle"),
    product("NIOHTTP1", "swift-nio", for: "Monitor"),
  ]

let demoTargets: [Target] = [
  demo("quickstart"), demo("results"), demo("dependencies"), demo("async-await"),
  demo("cancellation"), demo("combining"), demo("observing"),
  demo("batch", ["Operations", "OperationsMonitor"]),
  demo("monitored-process", ["DemoWorkloads", "OperationsMonitor"], ends: false),
  demo("progress", ["Operations", "OperationsMonitor", logging]),
  demo("moving-from-foundation", ["OperationsFoundation"]),
  demo("service", serviceDemo),
  demo("cluster", ["Operations", "OperationsCommands", "OperationsMonitor"]),
]

let monitorTargets: [Target] = [
  .target(name: "MonitorTrait"),
  .target(name: "TelemetryTrait"),
  .target(name: "LifecycleTrait"),
  .target(name: "CommandsTrait"),
  .target(
    name: "MonitorProtocol",
    dependencies: [
      "CMonitorSystem", "COperationsSystem",
      product("SwiftProtobuf", "swift-protobuf", for: "Monitor", "Telemetry"),
    ],
    exclude: ["Wire/generate", "Wire/monitor.proto"]),
  .target(
    name: "OperationsCollector",
    dependencies: [
      "OperationsCore", "COperationsSystem", "MonitorProtocol",
      product("Histogram", "hdrhistogram-swift", for: "Monitor", "Telemetry"),
    ]),
  .target(
    name: "MonitorTransport",
    dependencies: ["CMonitorSystem", "COperationsSystem", "MonitorProtocol"] + nio),
  .target(
    name: "OperationsMonitor",
    dependencies: [
      "MonitorTrait", "OperationsCore", "CMonitorSystem", "COperationsSystem", logging,
    ] + nio
      + targets("OperationsCollector", "MonitorProtocol", "MonitorTransport", for: "Monitor")),
  .target(
    name: "OperationsTelemetry",
    dependencies: ["TelemetryTrait", "OperationsCore", "COperationsSystem", metrics, tracing]
      + targets("OperationsCollector", "MonitorProtocol", for: "Telemetry")),
  .target(
    name: "OperationsLifecycle",
    dependencies: ["LifecycleTrait", "OperationsCore", serviceLifecycle]),
  .target(
    name: "OperationsCommands",
    dependencies: [
      "CommandsTrait", "OperationsCore", "COperationsSystem", subprocess, systemPackage,
    ]),
]

let viewerTargets: [Target] = [
  .target(name: "Dashboard", dependencies: ["MonitorProtocol"]),
  .target(
    name: "RunAnalysis",
    dependencies: [
      "CMonitorSystem", "MonitorProtocol",
      product("HeapModule", "swift-collections", for: "Monitor"),
    ]),
  .target(
    name: "MonitorClient",
    dependencies: ["CMonitorSystem", "COperationsSystem", "MonitorProtocol", "MonitorTransport"]
      + nio),
  .target(
    name: "CNCurses",
    cSettings: [.treatAllWarnings(as: .error)],
    linkerSettings: [.linkedLibrary("ncursesw")]),
  .target(
    name: "CursesTerminal",
    dependencies: ["CNCurses", "CMonitorSystem", "COperationsSystem", "Dashboard"]),
  .target(
    name: "DemoWorkloads", dependencies: ["CMonitorSystem", "COperationsSystem", "Operations"]),
  .target(
    name: "JobFiles", dependencies: ["MonitorProtocol", "RunAnalysis", yams],
    exclude: ["jobs.schema.json"]),
  .target(
    name: "JobRun",
    dependencies: [
      "CMonitorSystem", "COperationsSystem", "JobFiles", "MonitorProtocol", "OperationsCommands",
      "OperationsCore",
    ]),
  .target(
    name: "OpqTop",
    dependencies: viewerLibraries + [
      "CMonitorSystem", "COperationsSystem", "DemoWorkloads", "JobFiles", "JobRun",
      "OperationsCollector", "OperationsCommands", "OperationsMonitor", argumentParser,
    ]),
  .executableTarget(
    name: "opq-top", dependencies: ["OpqTop"],
    exclude: [
      "BatchOutput.md", "Clusters.md", "Dashboard.md", "Export.md", "JobFile.md", "Jobs.md",
      "Machines.md", "Runs.md", "Scripting.md", "Packaging",
    ]),
]

/// The targets that all tests of commands and of work in another process need.
let commands: [Target.Dependency] = [
  "Operations", "OperationsCore", "OperationsCommands", "fixture-remote",
]

let monitorTestTargets: [Target] = [
  .target(
    name: "MonitorTestSupport", dependencies: ["MonitorProtocol", "RunAnalysis", "TestSupport"],
    path: "Tests/MonitorTestSupport"),
  tests("MonitorProtocol", ["MonitorProtocol"]),
  tests(
    "OperationsCollector",
    ["Operations", "OperationsCore", "OperationsCollector", "MonitorProtocol"]),
  tests(
    "OperationsMonitor",
    [
      "Operations", "OperationsCore", "OperationsCollector", "OperationsMonitor", "MonitorProtocol",
      "MonitorTransport", "CMonitorSystem", "opq-top", logging,
    ] + nio),
  tests(
    "OperationsTelemetry",
    [
      "Operations", "OperationsTelemetry", "OperationsCollector", "MonitorProtocol", metrics,
      tracing, product("MetricsTestKit", "swift-metrics", for: "Telemetry"), inMemoryTracing,
      logging,
    ]),
  tests("OperationsLifecycle", ["Operations", "OperationsLifecycle", serviceLifecycle, logging]),
  tests(
    "OperationsCommands",
    commands + ["COperationsSystem", "OperationsTesting", "fixture-commands"]),
  tests("Slurm", commands + ["demo-cluster"]),
  tests("Dashboard", ["Dashboard", "MonitorProtocol"], exclude: ["Golden"]),
  tests("RunAnalysis", ["RunAnalysis", "MonitorProtocol", "MonitorTestSupport"]),
  tests(
    "MonitorClient", ["MonitorClient", "MonitorProtocol", "MonitorTestSupport", "MonitorTransport"]),
  tests("CursesTerminal", ["CursesTerminal", "Dashboard"]),
  tests("DemoWorkloads", ["DemoWorkloads", "Operations"]),
  tests("JobFiles", ["JobFiles"]),
  tests("JobRun", ["JobFiles", "JobRun", "OperationsCore"]),
  tests(
    "OpqTop", viewer + ["MonitorTestSupport", "Operations", "OperationsCollector", argumentParser]),
  tests(
    "EndToEnd",
    viewer + [
      "opq-top", "MonitorTestSupport", "MonitorTransport", "Operations", "fixture-hostile-names",
      "fixture-ending", "fixture-launched", "demo-monitored-process", "demo-batch", "demo-progress",
    ], exclude: ["TerminalCases.md"]),
  // The fixture `hostile-names` links the viewer, which is not built if `OPQ_CORE_ONLY` is set.
  fixture("hostile-names", viewer + [argumentParser]),
  // The fixtures `ending` and `launched` are separate programs, because they link the monitor.
  fixture("ending", ["Operations", "OperationsMonitor", "TestSupport", logging]),
  fixture("launched", ["Operations", "OperationsMonitor", "TestSupport"]),
  // The fixture `commands` is a separate program, because it lowers the limit of its file descriptors.
  fixture("commands", ["Operations", "OperationsCommands", "TestSupport"]),
  // The fixture `remote` is a separate program, because it starts its own executable.
  fixture("remote", ["Operations", "OperationsCommands", "TestSupport"]),
  // No test starts the fixture `measure`. `Benchmarks` and `.ci/run` build it with optimization.
  fixture(
    "measure",
    [
      "Operations", "OperationsMonitor", "OperationsTelemetry", "FixtureSupport", "opq-top",
      metrics, tracing,
    ]),
]

let package = Package(
  name: "opq",
  products: [
    .library(name: "Operations", targets: ["Operations"]),
    .library(name: "OperationsTesting", targets: ["OperationsTesting"]),
  ]
    + (isCoreOnly
      ? []
      : [
        .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
        .library(name: "OperationsMonitor", targets: ["OperationsMonitor"]),
        .library(name: "OperationsTelemetry", targets: ["OperationsTelemetry"]),
        .library(name: "OperationsLifecycle", targets: ["OperationsLifecycle"]),
        .library(name: "OperationsCommands", targets: ["OperationsCommands"]),
        .executable(name: "opq-top", targets: ["opq-top"]),
      ]),
  // All traits are enabled by default, so that the commands of this package itself need no options. Another package
  // names the traits that it uses.
  traits: [
    .trait(
      name: "Monitor", description: "OperationsMonitor and opq-top: show the queues of a process"),
    .trait(name: "Telemetry", description: "OperationsTelemetry: metrics and traces of queues"),
    .trait(
      name: "Lifecycle", description: "OperationsLifecycle: a service that shuts a queue down"),
    .trait(name: "Commands", description: "OperationsCommands: operations that run commands"),
    .default(enabledTraits: ["Monitor", "Telemetry", "Lifecycle", "Commands"]),
  ],
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
      .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
      .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
      // Without its traits, swift-subprocess does not link Foundation.
      .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
      .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
      .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
  targets: isCoreOnly
    ? coreTargets
    : coreTargets + foundationTargets + monitorTargets + viewerTargets + demoTargets
      + monitorTestTargets,
  swiftLanguageModes: [.v6]
)

if isDocumentation {
  let documented: Set<String> = [
    "COperationsSystem", "OperationsCore", "OperationsFoundation", "OperationsTesting",
  ]
  package.targets.removeAll { !documented.contains($0.name) }
  package.products = []
  package.dependencies = [
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")
  ]
}

/// The targets that are written in C.
let cTargets: Set<String> = ["COperationsSystem", "CMonitorSystem", "CNCurses"]

/// Targets with classes that are written as users of the library write them. These targets have the default
/// settings of a new package, and warnings are not errors in them.
let lenientTargets: Set<String> = [
  "SubclassingTests", "SubclassShapesTests", "SubclassShapesInSwift5Tests",
  "fixture-shapes-foundation",
]

for target in package.targets
where !cTargets.union(lenientTargets).contains(target.name) {
  target.swiftSettings = strict + (target.swiftSettings ?? [])
}
