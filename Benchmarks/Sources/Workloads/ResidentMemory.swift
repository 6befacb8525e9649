// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Measures the resident memory of the process.
public enum ResidentMemory {
  /// Returns the number of bytes by which the resident memory of the process grows during `work`,
  /// divided by `size`.
  ///
  /// The result is meaningful only if the process has freed little memory before, because `work`
  /// could use that memory again. Therefore each benchmark runs in a separate process.
  public static func growth(size: Int, during work: () -> Void) -> Int {
    let before = bytes
    work()
    return (bytes - before) / size
  }

  /// The size of the resident memory in bytes. The second number in /proc/self/statm is the number
  /// of resident pages (proc(5)).
  private static var bytes: Int {
    let file = open("/proc/self/statm", O_RDONLY)
    precondition(file >= 0, "/proc/self/statm cannot be read")
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = read(file, &buffer, buffer.count)
    let words = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return 0 }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
