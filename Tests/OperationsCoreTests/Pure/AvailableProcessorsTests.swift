// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("AvailableProcessors and CgroupQuota")
struct AvailableProcessorsTests {
  @Test(
    "MX-11: the limit of version 2 is a quota and a period",
    arguments: [
      ("max 100000", nil), ("150000 100000\n", 1.5), ("100000 200000", 0.5), ("0 100000", nil),
      ("100000 0", nil), ("-1 100000", nil), ("100000", nil), ("", nil), ("a b", nil),
      ("9223372036854775807 1", 9_223_372_036_854_775_808), ("9223372036854775808 1", nil),
    ] as [(String, Double?)])
  func maximum(text: String, processors: Double?) {
    #expect(CgroupQuota.processors(inMax: text) == processors)
  }

  @Test("MX-11: a quota of −1 is no limit in version 1")
  func quota() {
    #expect(CgroupQuota.processors(quota: "-1\n", period: "100000\n") == nil)
    #expect(CgroupQuota.processors(quota: "250000\n", period: "100000\n") == 2.5)
  }

  @Test("MX-11: the group is the one of the controller, or of version 2")
  func group() {
    let text = "12:cpuset:/a\n4:cpu,cpuacct:/docker/c:1\n1:name=systemd:/b\n0::/user.slice\n"
    #expect(CgroupQuota.groupPath(in: text, .one) == "/docker/c:1")
    #expect(CgroupQuota.groupPath(in: text, .two) == "/user.slice")
    #expect(CgroupQuota.groupPath(in: "12:cpuset:/a", .one) == nil)
    #expect(CgroupQuota.groupPath(in: "nonsense\n\n", .two) == nil)
  }

  @Test("MX-11: the hierarchies are version 2, and the one of version 1 with the controller")
  func mounts() {
    let text = """
      22 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw
      35 24 0:30 / /sys/fs/cgroup rw shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate
      36 24 0:31 /docker/c /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct
      37 24 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
      nonsense
      38 24 0:33 / /cut rw - cgroup2
      """
    #expect(
      CgroupQuota.mounts(in: text) == [
        .init(version: .two, root: "/", mountPoint: "/sys/fs/cgroup"),
        .init(version: .one, root: "/docker/c", mountPoint: "/sys/fs/cgroup/cpu,cpuacct"),
      ])
  }

  @Test(
    "MX-11: the limits of a group and of its mounted ancestors apply")
  func directories() {
    let whole = CgroupQuota.Mount(version: .two, root: "/", mountPoint: "/m")
    #expect(CgroupQuota.directories(of: "/a/b", below: whole) == ["/m/a/b", "/m/a", "/m"])
    #expect(CgroupQuota.directories(of: "/", below: whole) == ["/m"])
    #expect(CgroupQuota.directories(of: "/../b", below: whole) == ["/m"])
    let part = CgroupQuota.Mount(version: .one, root: "/docker/c", mountPoint: "/m")
    #expect(CgroupQuota.directories(of: "/docker/c/d", below: part) == ["/m/d", "/m"])
    #expect(CgroupQuota.directories(of: "/elsewhere", below: part) == ["/m"])
  }

  /// Writes files below a directory, and creates their directories.
  private func write(_ files: [String: String], below directory: TemporaryDirectory) throws {
    for (name, text) in files {
      var path = directory.path
      for folder in name.split(separator: "/").dropLast() {
        path += "/\(folder)"
        mkdir(path, 0o700)
      }
      let file = try #require(fopen(directory.file(name), "w"))
      fputs(text, file)
      fclose(file)
    }
  }

  @Test("MX-11: the smallest quota of version 2 applies, rounded up")
  func versionTwo() throws {
    let directory = try TemporaryDirectory()
    try write(
      [
        "proc/self/cgroup": "0::/a/b\n",
        "proc/self/mountinfo": "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "sys/fs/cgroup/a/b/cpu.max": "max 100000\n", "sys/fs/cgroup/a/cpu.max": "110000 100000\n",
        "sys/fs/cgroup/cpu.max": "700000 100000\n",
      ], below: directory)
    #expect(AvailableProcessors.quota(below: directory.path) == 2)
    #expect(AvailableProcessors.count(below: directory.path) <= 2)
    try write(["sys/fs/cgroup/a/b/cpu.max": "10000 100000\n"], below: directory)
    #expect(AvailableProcessors.quota(below: directory.path) == 1)
    #expect(AvailableProcessors.count(below: directory.path) == 1)
  }

  @Test("MX-11: the quota of version 1 applies, rounded up")
  func versionOne() throws {
    let directory = try TemporaryDirectory()
    try write(
      [
        "proc/self/cgroup": "4:cpu,cpuacct:/docker/c\n0::/\n",
        "proc/self/mountinfo": """
        34 24 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
        35 24 0:31 /docker/c /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct

        """,
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
      ], below: directory)
    #expect(AvailableProcessors.quota(below: directory.path) == 1)
    #expect(AvailableProcessors.count(below: directory.path) == 1)
    try write(["sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"], below: directory)
    #expect(AvailableProcessors.quota(below: directory.path) == nil)
  }

  @Test("MX-11: without control groups, the affinity mask applies")
  func none() throws {
    let directory = try TemporaryDirectory()
    #expect(AvailableProcessors.quota(below: directory.path) == nil)
    #expect(
      (1...sysconf(Int32(_SC_NPROCESSORS_CONF))).contains(
        AvailableProcessors.count(below: directory.path)))
  }
}
