// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport

/// How many threads this process has had at most, as far as was looked, and how much memory.
final class ResourceWatch: Sendable, CustomStringConvertible {
  private let mostThreads = Monitored(0)

  /// Counts the threads of this moment.
  func look() {
    let count = Self.number(behind: "Threads:")
    mostThreads.change { $0 = max($0, count) }
  }

  var description: String {
    "\(mostThreads.value) threads and \(Self.number(behind: "VmHWM:") / 1_024) MiB at most"
  }

  private static func number(behind label: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix(label) { return Int(text.filter(\.isNumber)) ?? 0 }
    }
    return 0
  }
}
