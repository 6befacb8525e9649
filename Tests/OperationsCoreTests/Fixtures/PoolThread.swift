// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread of the library's thread pool, with the data that the kernel reports.
struct PoolThread: Hashable {
  let id: String
  let name: String

  /// The existing threads of the thread pool (the workers and the sampler), which are found by
  /// their names.
  static var all: [PoolThread] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var threads: [PoolThread] = []
    while let entry = readdir(folder) {
      let id = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      let name = text(of: "/proc/self/task/\(id)/comm").filter { $0 != "\n" }
      if name == "opq" || name.hasPrefix("opq-") { threads.append(PoolThread(id: id, name: name)) }
    }
    return threads
  }

  /// The number of the thread's context switches so far; `nil` if the thread has ended.
  var switchCount: Int? {
    let counts = Self.text(of: "/proc/self/task/\(id)/status").split(separator: "\n")
      .filter { $0.contains("ctxt_switches:") }
      .compactMap { $0.split(separator: "\t").last.flatMap { Int($0) } }
    return counts.count == 2 ? counts.reduce(0, +) : nil
  }

  /// The processor time of the thread so far, in ticks of the kernel; `nil` if the thread has ended.
  var tickCount: Int? {
    // In the kernel's file `stat` of the thread, the fields up to the thread's name are skipped,
    // because the name may contain any characters. The fields after the name are numbered from 3,
    // the state, as in `man proc`.
    let fields = Self.text(of: "/proc/self/task/\(id)/stat").split(separator: ")").last?
      .split(separator: " ")
    guard let fields, fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12])
    else { return nil }
    return user + system
  }

  private static func text(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
