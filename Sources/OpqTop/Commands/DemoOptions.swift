// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import ArgumentParser
public import DemoWorkloads

/// The options that select a demo and its settings.
struct DemoOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The workload. (default: tiles)", valueName: "name"))
  var chosenDemo: Demo?

  @Flag(name: .customLong("list"), help: "List the demos, and exit.")
  var isList = false

  @Flag(help: "Exit after one round of the workload; see \"opq-top help demo\".")
  var once = false

  // The parser accepts a value that begins with a hyphen, so that a negative number causes a
  // precise error message.
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

  /// Whether the options request a demo.
  var isGiven: Bool {
    chosenDemo != nil || isList || once || seed != nil || speed != nil || output != nil
  }

  func validate() throws {
    let demo = choice.demo
    if output != nil && !demo.writesFiles {
      throw ValidationError("--output works only with the demo tiles; \(demo.name) writes no files")
    }
  }

  /// The demo that the options request.
  var choice: DemoChoice {
    let usual = DemoChoice()
    return DemoChoice(
      demo: chosenDemo ?? usual.demo, seed: seed ?? usual.seed, speed: speed ?? usual.speed,
      isOnce: once, output: output)
  }
}

/// The name of a demo on the command line selects the demo.
extension Demo: ExpressibleByArgument {}

/// A demo and its settings. The default is the first demo with its usual settings.
struct DemoChoice: Equatable {
  var demo = Demo.tiles
  /// The seed of the demo's random numbers.
  var seed: UInt64 = 7
  /// How many times faster than usual the demo runs.
  var speed = 1.0
  /// Whether the demo ends after one round.
  var isOnce = false
  /// The directory for the files of the demo; `nil` if the files are not kept.
  var output: String?

  /// Returns the options of the demo's workload.
  func options(isInteractive: Bool) -> WorkloadOptions {
    WorkloadOptions(
      seed: seed, speed: speed, isOnce: isOnce, isInteractive: isInteractive && !isOnce,
      outputDirectory: output)
  }
}
