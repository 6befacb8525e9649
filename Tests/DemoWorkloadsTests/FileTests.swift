// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import DemoWorkloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite struct FileTests {
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  @Test func aFileAppearsWhenItIsCommitted() throws {
    let file = try PartialFile(path: "\(scratch.path)/a/b/c.txt")
    try file.append([1, 2])
    try file.append([3])
    #expect(!scratch.exists("a/b/c.txt"))
    try file.commit()
    #expect(scratch.contents(of: "a/b/c.txt") == [1, 2, 3])
    #expect(!scratch.exists("a/b/c.txt.part"))
  }

  @Test func anAbandonedFileIsDeleted() throws {
    do {
      let file = try PartialFile(path: "\(scratch.path)/c.txt")
      try file.append([1])
      #expect(scratch.exists("c.txt.part"))
    }
    #expect(!scratch.exists("c.txt.part") && !scratch.exists("c.txt"))
  }

  @Test func aFileReplacesAnOlderFile() throws {
    try PartialFile.create("\(scratch.path)/c.txt", with: "a longer old text")
    try PartialFile.create("\(scratch.path)/c.txt", with: "new")
    #expect(scratch.text(of: "c.txt") == "new")
  }

  @Test func aFileBelowAFileIsRefused() throws {
    try PartialFile.create("\(scratch.path)/c.txt", with: "")
    #expect(throws: SystemError(code: ENOTDIR)) {
      try PartialFile.create("\(scratch.path)/c.txt/d.txt", with: "")
    }
  }

  @Test("A temporary directory is created in /tmp if TMPDIR is empty")
  func emptyTemporaryDirectoryVariableInOwnProcess() async {
    // The environment belongs to the whole process.
    await #expect(processExitsWith: .success) {
      setenv("TMPDIR", "", 1)
      let path = try FileSystem.createTemporaryDirectory()
      FileSystem.removeTree(path)
      try #require(path.hasPrefix("/tmp/"))
    }
  }

  @Test func removingATreeKeepsTheTargetsOfLinks() throws {
    try PartialFile.create("\(scratch.path)/kept/file", with: "")
    try PartialFile.create("\(scratch.path)/tree/a/b/file", with: "")
    try #require(symlink("\(scratch.path)/kept", "\(scratch.path)/tree/link") == 0)
    FileSystem.removeTree("\(scratch.path)/tree")
    #expect(!scratch.exists("tree"))
    #expect(scratch.exists("kept/file"))
    FileSystem.removeTree("\(scratch.path)/tree")
  }

  @Test func anOutputDirectoryIsCreatedWithItsParents() throws {
    let directory = try OutputDirectory(requested: "\(scratch.path)/new/one/")
    #expect(directory.path == "\(scratch.path)/new/one")
    #expect(!directory.isTemporary)
    #expect(FileSystem.isDirectory(directory.path))
  }

  @Test func aTemporaryDirectoryIsFreshEachTime() throws {
    let first = try OutputDirectory(requested: nil)
    let second = try OutputDirectory(requested: nil)
    defer { for directory in [first, second] { FileSystem.removeTree(directory.path) } }
    #expect(first.isTemporary && FileSystem.isDirectory(first.path))
    #expect(first.path != second.path)
  }

  @Test func aFileInPlaceOfTheOutputDirectoryIsAnError() throws {
    let path = "\(scratch.path)/c.txt"
    try PartialFile.create(path, with: "")
    let error = #expect(throws: WorkloadError.self) { try OutputDirectory(requested: path) }
    #expect(
      error?.description == "cannot create the output directory \(path): Not a directory")
  }

  @Test func aReadOnlyDirectoryIsAnError() {
    // In the directory /proc/self, not even root can create files, so this directory cannot be used
    // for output.
    let error = #expect(throws: WorkloadError.self) { try OutputDirectory(requested: "/proc/self") }
    #expect(
      error?.description.hasPrefix("cannot write to the output directory /proc/self: ") == true)
  }
}
