// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

// Runs subclasses of Foundation's `Operation` that are written in various common ways, with various
// settings, and prints a table of the results. Each run has a separate process. Arguments select
// ways of writing by their names. Without arguments, all are run.

if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "--run" {
  let arguments = CommandLine.arguments
  startThread {
    runOnce(shape: arguments[2], width: arguments[3], isCancelled: arguments[4] == "cancelled")
    exit(0)
  }
  dispatchMain()
}
let names = Array(CommandLine.arguments.dropFirst())
ShapeTable(of: Shape.all.filter { names.isEmpty || names.contains($0.name) }).print()
