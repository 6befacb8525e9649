// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// Runs one variant of a shape in this process, and prints its result.
func runOnce(shape name: String, width: String, isCancelled: Bool) {
  guard let shape = Shape.all.first(where: { $0.name == name }), let width = Int(width) else {
    fatalError("There is no shape \(name), or no width \(width)")
  }
  let variant = ShapeVariant(width: width, isCancelled: isCancelled, isObserved: false)
  let seed = SeededGenerator.announcedSeed(for: "\(name), \(variant)")
  // The limit is shorter than that of the process, so that a missing result can be reported.
  print(ShapeReport.mark, ShapeRun(shape, variant, seed: seed).report(within: 7))
}

extension ShapeReport {
  /// The beginning of the line with the report.
  static let mark = "report:"
}

/// The results of each shape with Foundation.
struct ShapeTable {
  /// The maximum number of runs of each variant: the timing of a race differs from run to run, so a
  /// variant runs again until a run fails.
  private static let attempts = 3

  private let shapes: [Shape]

  init(of shapes: [Shape]) { self.shapes = shapes }

  func print() {
    Swift.print("| Shape | Here | There | There, cancelled |\n| --- | --- | --- | --- |")
    for shape in shapes {
      let cells = ["plain", "cancelled"].map { cell(shape, $0) }
      // The tests of the shapes fail if the result with this library is different.
      Swift.print("| \(shape.summary) | ok | \(cells.joined(separator: " | ")) |")
      fflush(nil)
    }
    Swift.print(
      "| \(Shape.affectingStateSummary) | ok | does not compile | does not compile |")
  }

  /// Returns the worst fault at each width. Each complete report is printed to standard error.
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
    // The process that prints a backtrace of a crash can outlive the limit and keep the pipe open.
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
