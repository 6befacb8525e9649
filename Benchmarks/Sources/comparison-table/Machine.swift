// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation

/// Describes the machine on which the benchmarks ran.
enum Machine {
  /// The processor, the kernel and the date, in one line.
  static var description: String {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    return "\(processorModel), \(processors) processors; Linux \(kernel); \(today)."
  }

  private static var processorModel: String {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    let model = line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    return model ?? "Unknown processor"
  }

  private static var kernel: String {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    return text?.trimmingCharacters(in: .newlines) ?? "of an unknown version"
  }

  private static var today: String {
    let now = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: Date())
    return String(format: "%04d-%02d-%02d", now.year ?? 0, now.month ?? 0, now.day ?? 0)
  }
}
