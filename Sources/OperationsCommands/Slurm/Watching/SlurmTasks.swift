// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One task of an array, or several tasks that Slurm has not separated yet.
package struct SlurmTasks: Hashable, Sendable {
  /// The numbers of the tasks in the notation that commands of Slurm accept, such as `3` or `[1,4,7-9]`; `nil` if Slurm
  /// shows only a part of the numbers, or if this notation is too long for a command.
  package let list: String?
  /// The number of the task; `nil` if there are several tasks.
  package let number: UInt64?

  /// The maximum number of bytes of ``list``.
  private static let longestList = 8_000

  /// Reads the tasks as `squeue` shows them, such as `3`, `1-9%2` and `1,4-20:4`; `nil` for a job without tasks.
  init?(_ text: String) {
    guard let first = text.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    else { return nil }
    number = UInt64(text)
    if let number {
      list = "\(number)"
    } else {
      let numbers = text.prefix { $0 != "%" }
        .split(separator: ",", omittingEmptySubsequences: false).map { Self.numbers($0) }
      let joined = numbers.contains(nil) ? nil : numbers.compactMap { $0 }.joined(separator: ",")
      list = joined.flatMap { $0.utf8.count <= Self.longestList ? "[\($0)]" : nil }
    }
  }

  /// Returns a part of the numbers without a step, because commands of Slurm accept no steps; `nil` if it is not valid.
  private static func numbers(_ part: Substring) -> String? {
    func values(_ text: Substring, separator: Character) -> [Substring] {
      text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
    }
    let range = values(part, separator: ":")
    let ends = values(range[0], separator: "-").map { UInt32($0) }
    guard let first = ends[0], let last = ends[ends.count - 1], first <= last else { return nil }
    guard range.count == 2 else { return ends.count == 1 ? "\(first)" : "\(first)-\(last)" }
    guard let step = UInt32(range[1]), step > 0, (last - first) / step <= longestList / 2 else {
      return nil
    }
    return stride(from: UInt64(first), through: UInt64(last), by: Int(step)).map { "\($0)" }
      .joined(separator: ",")
  }
}
