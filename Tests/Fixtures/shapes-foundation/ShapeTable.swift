// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// Runs operations of one kind of subclass with certain settings in this process, and prints the
/// result.
func runOnce(shape name: String, width: String, isCancelled: Bool) {
  guard let shape = Shape.all.first(where: { $0.name == name }), let width = Int(width) else {
    fatalError("There is no shape \(name), or no width \(width)")
  }
  let variant = ShapeVariant(width: width, isCancelled: isCancelled, isObserved: false)
  let seed = SeededGenerator.announcedSeed(for: "\(name), \(variant)")
  // The time limit of the run is shorter than the time limit of its process, so that the process
  // can report missing events.
  print(ShapeReport.mark, ShapeRun(shape, variant, seed: seed).report(within: 7))
}

extension ShapeReport {
  /// The text at the beginning of the output line that contains the report.
  static let mark = "report:"
}

/// A table that shows how each kind of subclass works with Foundation's operations.
struct ShapeTable {
  /// The maximum number of runs with the same settings. A race occurs only in some runs, so the
  /// program runs again until a run fails.
  private static let attempts = 3

  private let shapes: [Shape]

  init(of shapes: [Shape]) { self.shapes = shapes }

  func print() {
    Swift.print("| Shape | Here | There | There, cancelled |\n| --- | --- | --- | --- |")
    for shape in shapes {
      let cells = ["plain", "cancelled"].map { cell(shape, $0) }
      // The column for this library can always say "ok", because other tests fail if a subclass
      // does not work with this library.
      Swift.print("| \(shape.summary) | ok | \(cells.joined(separator: " | ")) |")
      fflush(nil)
    }
    Swift.print(
      "| \(Shape.affectingStateSummary) | ok | does not compile | does not compile |")
  }

  /// Runs a kind of subclass at each width of the queue, and returns the worst fault for each
  /// width. The complete reports are printed to standard error.
  private func cell(_ shape: Shape, _ variant: String) -> String {
    let faults = ShapeVariant.widths.map { width in
      let report = report(of: shape, width, variant)
      FileHandle.standardError.write(
        Data("\(shape.name), \(variant), width \(width): \(report)\n".utf8))
      return worstFault(in: report)
    }
    if Set(faults).count == 1 { return faults[0] }
    return zip(ShapeVariant.widths, faults).filter { $0.1 != "ok" }
      .map { "\($1) at \($0 == -1 ? "the default width" : "width \($0)")" }
      .joined(separator: ", ")
  }

  /// Returns the first part of a report without its numbers, which differ from run to run.
  private func worstFault(in report: String) -> String {
    let words = report.prefix { $0 != "," }.split(separator: " ")
    return words.filter { Int($0) == nil && $0 != "of" }.joined(separator: " ")
  }

  private func report(of shape: Shape, _ width: Int, _ variant: String) -> String {
    for _ in 1..<Self.attempts {
      let report = singleReport(of: shape, width, variant)
      if report != "ok" { return report }
    }
    return singleReport(of: shape, width, variant)
  }

  private func singleReport(of shape: Shape, _ width: Int, _ variant: String) -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--run", shape.name, "\(width)", variant]
    process.standardOutput = output
    // Backtraces are disabled: after a crash, the program that prints the backtrace could exceed
    // the time limit and keep the pipe open.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardError = FileHandle.nullDevice
    let hasEnded = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in hasEnded.signal() }
    do { try process.run() } catch { return "does not start: \(error)" }
    guard hasEnded.wait(timeout: .now() + 10) == .success else {
      kill(process.processIdentifier, SIGKILL)
      hasEnded.wait()
      return "hang"
    }
    if process.terminationReason == .uncaughtSignal {
      return "crash, signal \(process.terminationStatus)"
    }
    let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      .split(separator: "\n")
    guard let line = lines.last(where: { $0.hasPrefix(ShapeReport.mark) }) else {
      return "no report"
    }
    return line.dropFirst(ShapeReport.mark.count).trimmingCharacters(in: .whitespaces)
  }
}
