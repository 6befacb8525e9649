// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The processors that this process may use, which can be fewer than the machine has.
package enum AvailableProcessors {
  /// Counts the processors of the affinity mask, and limits this number to the processor quota of
  /// the control groups.
  ///
  /// - Parameter root: The directory that contains `proc` and `sys`; empty for the root directory.
  /// - Returns: The number of processors; at least 1.
  package static func count(below root: String = "") -> Int {
    let mask = Int(csystem_allowed_processor_count())
    let usable = mask > 0 ? mask : Int(csystem_processor_count())
    return max(1, min(usable, quota(below: root) ?? usable))
  }

  /// Returns the number of processors of the control groups' quota, rounded up; `nil` if there is
  /// no limit.
  static func quota(below root: String) -> Int? {
    guard let groups = text(of: "\(root)/proc/self/cgroup"),
      let mounts = text(of: "\(root)/proc/self/mountinfo")
    else { return nil }
    let limits = CgroupQuota.mounts(in: mounts).flatMap { mount -> [Double] in
      guard let path = CgroupQuota.groupPath(in: groups, mount.version) else { return [] }
      return CgroupQuota.directories(of: path, below: mount)
        .compactMap { limit(in: root + $0, mount.version) }
    }
    return limits.min().map { Int(min($0.rounded(.up), 1e6)) }
  }

  private static func limit(in directory: String, _ version: CgroupQuota.Version) -> Double? {
    switch version {
    case .one:
      guard let quota = text(of: "\(directory)/cpu.cfs_quota_us"),
        let period = text(of: "\(directory)/cpu.cfs_period_us")
      else { return nil }
      return CgroupQuota.processors(quota: quota, period: period)
    case .two: return text(of: "\(directory)/cpu.max").flatMap(CgroupQuota.processors(inMax:))
    }
  }

  /// Returns the text of a file; `nil` if the file cannot be read.
  private static func text(of path: String) -> String? {
    let file = csystem_open_to_read(path)
    guard file >= 0 else { return nil }
    defer { csystem_close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case let count = csystem_read(file, &buffer, buffer.count), count > 0 {
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
