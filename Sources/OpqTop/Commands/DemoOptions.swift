// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import ArgumentParser
public import DemoWorkloads

/// Which demo is run, and how.
struct DemoOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The workload. (default: tiles)", valueName: "name"))
  var chosenDemo: Demo?

  @Flag(name: .customLong("list"), help: "List the demos, and exit.")
  var isList = false

  @Flag(help: "Exit after one round of the workload; see \"help demo\".")
  var once = false

  // Read unconditionally, so that a negative number is told what is wrong with it.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The seed of the workload's random numbers. (default: 7)", valueName: "number"))
  var seed: UInt64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many times faster than usual the workload runs. (default: 1.0)", valueName: "factor"))
  var speed: Double?

  @Option(
    help: ArgumentHelp("Keep the files of the workload in this directory.", valueName: "directory"))
  var output: String?

  /// Whether a demo is asked for.
  var isGiven: Bool {
    chosenDemo != nil || isList || once || seed != nil || speed != nil || output != nil
  }

  func validate() throws {
    let demo = choice.demo
    if output != nil && !demo.writesFiles {
      throw ValidationError("--output goes with the demo tiles: \(demo.name) writes no files")
    }
  }

  /// The demo that is asked for.
  var choice: DemoChoice {
    let usual = DemoChoice()
    return DemoChoice(
      demo: chosenDemo ?? usual.demo, seed: seed ?? usual.seed, speed: speed ?? usual.speed,
      isOnce: once, output: output)
  }
}

/// A demo is asked for by its name.
extension Demo: ExpressibleByArgument {}

/// Which demo is run, and how; by default the first one as it is meant.
struct DemoChoice: Equatable {
  var demo = Demo.tiles
  /// Decides what it does.
  var seed: UInt64 = 7
  /// How many times faster than usual it goes.
  var speed = 1.0
  /// Whether it ends when one round is done.
  var isOnce = false
  /// Where its files are kept; `nil` where they are not.
  var output: String?

  /// The same for the workload.
  func options(isInteractive: Bool) -> WorkloadOptions {
    WorkloadOptions(
      seed: seed, speed: speed, isOnce: isOnce, isInteractive: isInteractive && !isOnce,
      outputDirectory: output)
  }
}
