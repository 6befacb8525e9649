// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// This program contains several tests that need a separate process, because they need its main
// thread, an unused thread pool or unused memory. The first argument selects a group of tests.
//
//   fixture-programs main-queue dispatch-main|run-loop|waiting|waiting-while-served|trap
//   fixture-programs workers crash|crash-main|width|blocked
//   fixture-programs workers fork USE
//   fixture-programs endless-chain COUNT [keep]
//   fixture-programs random-graph COUNT release|run [keep]
//   fixture-programs async-storm COUNT [SEED]

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "main-queue": MainQueue.run(arguments)
case "workers": Workers.run(arguments)
case "endless-chain": EndlessChain.run(arguments)
case "random-graph": RandomGraph.run(arguments)
case "async-storm": AsyncStorm.run(arguments)
default: fatalError("usage: main-queue|workers|endless-chain|random-graph|async-storm ...")
}
