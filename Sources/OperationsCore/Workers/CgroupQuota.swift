// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The quota of processor time in a control group: converts text of the kernel's files to numbers.
///
/// Source: cgroups(7), and `Documentation/admin-guide/cgroup-v2.rst` and `sched-bwc.rst` of the
/// kernel.
enum CgroupQuota {
  /// A version of control groups. The two versions have different names for the files of a group.
  enum Version { case one, two }

  /// A mounted hierarchy of control groups.
  struct Mount: Equatable {
    let version: Version
    /// The path of the group at the mount point, inside the hierarchy.
    let root: String
    let mountPoint: String
  }

  /// Returns the hierarchies in the text of `/proc/self/mountinfo` that can limit processor time.
  static func mounts(in text: String) -> [Mount] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      // In a line of `/proc/self/mountinfo`, a hyphen ends the optional fields. The type of the
      // file system, the source and the options follow.
      guard fields.count > 6, let hyphen = fields[6...].firstIndex(of: "-"),
        fields.count > hyphen + 3
      else { return nil }
      let version: Version
      switch fields[hyphen + 1] {
      case "cgroup2": version = .two
      case "cgroup" where fields[hyphen + 3].split(separator: ",").contains("cpu"): version = .one
      default: return nil
      }
      return Mount(version: version, root: String(fields[3]), mountPoint: String(fields[4]))
    }
  }

  /// Returns the path of the process's group in the text of `/proc/self/cgroup`; `nil` if it has
  /// none.
  static func groupPath(in text: String, _ version: Version) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isWanted =
        switch version {
        case .one: fields[1].split(separator: ",").contains("cpu")
        case .two: fields[0] == "0" && fields[1].isEmpty
        }
      if isWanted { return String(fields[2]) }
    }
    return nil
  }

  /// Returns the directories of a group and of the groups that contain it, up to the mount point.
  /// The limits of all these groups apply.
  static func directories(of path: String, below mount: Mount) -> [String] {
    let group = path.split(separator: "/")
    let root = mount.root.split(separator: "/")
    // If the group is outside the mounted part of the hierarchy, as in a container, only the mount
    // point is available.
    guard group.starts(with: root), !group.contains("..") else { return [mount.mountPoint] }
    let inside = group.dropFirst(root.count)
    return (0...inside.count).reversed().map { count in
      ([mount.mountPoint] + inside.prefix(count).map(String.init)).joined(separator: "/")
    }
  }

  /// Returns the number of processors in `cpu.max`: two numbers of microseconds, the quota and the
  /// period. `nil` if there is no limit.
  static func processors(inMax text: String) -> Double? {
    let fields = text.split { $0.isWhitespace }
    guard fields.count == 2 else { return nil }
    return processors(quota: String(fields[0]), period: String(fields[1]))
  }

  /// Returns the number of processors in `cpu.cfs_quota_us` and `cpu.cfs_period_us`; `nil` if there
  /// is no limit.
  static func processors(quota: String, period: String) -> Double? {
    guard let quota = number(quota), let period = number(period), quota > 0, period > 0 else {
      return nil
    }
    return Double(quota) / Double(period)
  }

  private static func number(_ text: String) -> Int? {
    text.split { $0.isWhitespace }.first.flatMap { Int($0) }
  }
}
