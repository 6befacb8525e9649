// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The kernel's data about this process.
package enum ProcessStatus {
  /// Returns the number in a line of `/proc/self/status`, such as `Threads`, or `VmHWM`, which is
  /// the maximum memory so far in KiB. Unlike the maximum that `getrusage` returns, `VmHWM` does
  /// not include the time before the program was executed.
  ///
  /// - Parameter name: The text before the colon. The program ends if there is no such line.
  /// - Returns: The number after the colon.
  package static func amount(_ name: String) -> Int {
    guard let amount = amount(name, of: getpid()) else {
      fatalError("/proc/self/status has no \(name)")
    }
    return amount
  }

  /// Returns the number in a line of `/proc/PID/status` of another process; `nil` if the process or
  /// the line does not exist.
  package static func amount(_ name: String, of process: Int32) -> Int? {
    guard let status = fopen("/proc/\(process)/status", "r") else { return nil }
    defer { fclose(status) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), status) != nil {
      let words = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self
      )
      .split { $0 == ":" || $0.isWhitespace }
      if words.first == name[...] { return words.dropFirst().first.flatMap { Int($0) } }
    }
    return nil
  }

  /// Returns the number of write calls that this thread has made, for all files.
  package static func threadWriteCount() -> Int {
    guard let file = fopen("/proc/thread-self/io", "r") else { return 0 }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = fread(&bytes, 1, bytes.count, file)
    let words = String(decoding: bytes[..<count], as: UTF8.self).split(
      whereSeparator: \.isWhitespace)
    return words.firstIndex(of: "syscw:").flatMap { Int(words[$0 + 1]) } ?? 0
  }

  /// Returns whether a signal has stopped all threads of a process.
  package static func areThreadsStopped(of process: Int32) -> Bool {
    guard let tasks = opendir("/proc/\(process)/task") else { return false }
    defer { closedir(tasks) }
    while let entry = readdir(tasks) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard Int32(name) != nil else { continue }
      guard let file = fopen("/proc/\(process)/task/\(name)/stat", "r") else { return false }
      defer { fclose(file) }
      var bytes = [UInt8](repeating: 0, count: 512)
      let count = fread(&bytes, 1, bytes.count, file)
      // The state is the first letter after the thread's name, which is in parentheses.
      let words = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: ")").last
      guard words?.hasPrefix(" T") == true else { return false }
    }
    return true
  }

  /// Returns the number of open file descriptors of a process; `nil` if the process does not exist.
  package static func descriptorCount(of process: Int32) -> Int? {
    descriptors(of: process)?.count
  }

  /// Returns the number of open file descriptors of a process that are no timers; `nil` if the process does not exist.
  ///
  /// Dispatch opens a timer when a process first uses one of three clocks, and never closes the timer. The modules of opq
  /// open no timers themselves.
  package static func descriptorCountWithoutTimers(of process: Int32) -> Int? {
    descriptors(of: process)?.count { descriptor in
      var target = [CChar](repeating: 0, count: 256)
      let count = readlink("/proc/\(process)/fd/\(descriptor)", &target, target.count)
      let bytes = target.prefix(max(0, count)).map(UInt8.init(bitPattern:))
      return String(decoding: bytes, as: UTF8.self) != "anon_inode:[timerfd]"
    }
  }

  /// Returns the open file descriptors of a process; `nil` if the process does not exist.
  private static func descriptors(of process: Int32) -> [Int32]? {
    guard let directory = opendir("/proc/\(process)/fd") else { return nil }
    defer { closedir(directory) }
    var descriptors: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      // The entries `.` and `..` are no descriptors.
      if let descriptor = Int32(name) { descriptors.append(descriptor) }
    }
    return descriptors
  }
}
