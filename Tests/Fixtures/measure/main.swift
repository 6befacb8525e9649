// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Programs that use or measure the library, the monitor and opq-top for longer than a test may
// take.
//
//   fixture-measure soak [SECONDS [SEED [DEMO]]]
//   fixture-measure dashboard [VIEW]
//   fixture-measure monitor [ROUNDS [memory|empty|millisecond [VIEW]]]
//   fixture-measure run-order [COUNT]
//   fixture-measure reports [ROUNDS]
//   fixture-measure async [ROUNDS]
//   fixture-measure telemetry [ROUNDS]
//   fixture-measure telemetry off|metrics|traces COUNT
//   fixture-measure context off|empty|captured|async|inherits COUNT [memory]
//
// VIEW is a name of a view, as for the option --view of opq-top.

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "soak": try RandomUse.run(arguments)
case "dashboard": try DashboardFigures.run(arguments)
case "monitor": try MonitorOverhead.run(arguments)
case "run-order": ReadyOrderFigures.run(arguments)
case "reports": try ReportOverhead.run(arguments)
case "async": await AsyncFigures.run(arguments)
case "telemetry": TelemetryOverhead.run(arguments)
case "context": ContextOverhead.run(arguments)
default:
  fatalError(
    "usage: soak|dashboard|monitor|run-order|reports|async|telemetry|context [ARGUMENT ...]")
}
