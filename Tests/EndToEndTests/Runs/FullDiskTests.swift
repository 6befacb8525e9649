// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Whether this user may mount file systems that only the programs of a test see.
private enum OwnMounts {
  /// The words before a command that runs with mounts of its own.
  static let words = geteuid() == 0 ? ["-m"] : ["-Urm"]

  static let areAllowed: Bool = {
    guard let window = try? PseudoTerminal() else { return false }
    let arguments = words + ["mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    guard (try? window.start("/usr/bin/unshare", arguments)) != nil else { return false }
    return window.waitForEnd() == .status(0)
  }()
}

/// Tests of runs whose disk is full or cannot be written.
@Suite("Runs on full disks", .timeLimit(.minutes(10)), .onOwnThread)
struct FullDiskTests {
  /// Jobs of which the second one fails often, so that the journal grows, until the test repairs it.
  private static func jobs(_ command: String) -> String {
    """
      first: {run: 'echo first >> "$DIR/ran"'}
      flaky:
        run: 'test -e "$DIR/repaired" && exit 0; \(command)exit 1'
        needs: [first]
        retries: 500
        retry-pause: 1ms
      last: {run: 'echo last >> "$DIR/ran"', needs: [flaky]}
    """
  }

  /// Checks a journal after the resume.
  private func expectEnd(of run: StoredRun, in scene: StoredRunScene) throws {
    #expect(scene.lines("ran") == ["first", "last"])
    #expect(run.records("start", of: "first").count == 1)
    #expect(try run.records().last?.event == "finish")
    #expect(run.end(of: "flaky")?.state == "succeeded")
    let attempts = run.records("start", of: "flaky").compactMap(\.attempt)
    #expect(attempts == attempts.sorted() && Set(attempts).count == attempts.count)
  }

  @Test("RD-6: A limit of the size of files is one sentence, and what has ended stays ended")
  func sizeLimit() throws {
    let scene = try StoredRunScene(Self.jobs(""))
    // The unit of Bash is 1 KiB. The journal is the only file that becomes as large.
    let script = "cd \"$1\" && ulimit -f 16 && exec \"$0\" run --batch jobs.yaml"
    let ending = try scene.scene.run(
      ["-c", script, BuiltProgram.path, scene.directory], of: "/bin/bash")
    #expect(ending == .status(1))
    let errors = scene.lines("errors")
    #expect(errors.count == 1, "\(errors)")
    #expect(errors.first?.contains("File too large") == true, "\(errors)")
    let run = try scene.onlyRun()
    #expect(run.records("start", of: "flaky").count > 10)
    #expect(run.end(of: "flaky") == nil && run.records("finish").isEmpty)
    try scene.open("repaired")
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    try expectEnd(of: run, in: scene)
  }

  @Test("RD-6: If only the last records cannot be written, the status 1 has a sentence")
  func lastRecords() throws {
    // The last job permits the runner no longer files than its journal.
    let scene = try StoredRunScene(
      #"""
        first: {run: 'true', each: {N: [1, 2, 3, 4, 5, 6, 7, 8]}}
        last:
          run: 'cd "$DIR/.opq/runs/$OPQ_RUN" && prlimit --pid "$(cat lock)" --fsize="$(stat -c %s journal.jsonl)"'
          needs: [first]
      """#)
    let ended = try scene.run(["run", "--batch", scene.file])
    #expect(ended.ending == .status(1))
    ended.expectSentence("File too large")
    let run = try scene.onlyRun()
    #expect(run.records("start", of: "last").count == 1 && run.end(of: "last") == nil)
    // The exit status is known without its record.
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(run.records("start", of: "last").count == 1)
    #expect(run.end(of: "last")?.state == "succeeded")
  }

  @Test(
    "RD-6: A full disk is one sentence, and what has ended stays ended",
    .enabled(if: OwnMounts.areAllowed, "this user cannot mount a small disk"))
  func fullDisk() throws {
    let scene = try StoredRunScene(Self.jobs(#"cat /dev/zero >"$DIR/disk/zeros"; "#))
    let script = #"""
      cd "$1" && mkdir disk && mount -t tmpfs -o size=256k,mode=0700 none disk || exit 99
      cp jobs.yaml disk && cd disk
      "$0" run --batch jobs.yaml >../full-output 2>../full-errors
      echo "$?" >../full-status
      rm zeros
      touch ../repaired
      "$0" run --resume --batch >../output 2>../errors
      status=$?
      mkdir -p ../.opq && cp -r .opq/runs ../.opq
      exit "$status"
      """#
    let window = try scene.scene.start(
      OwnMounts.words + ["/bin/sh", "-c", script, BuiltProgram.path, scene.directory],
      of: "/usr/bin/unshare")
    #expect(window.waitForEnd(seconds: 120) == .status(0), "\(scene.scene.contents("errors"))")
    #expect(scene.lines("full-status") == ["1"])
    let errors = scene.lines("full-errors")
    #expect(errors.count == 1, "\(errors)")
    #expect(errors.first?.contains("No space left on device") == true, "\(errors)")
    try expectEnd(of: try scene.onlyRun(), in: scene)
  }

  @Test("RD-6: A directory that cannot be written is one sentence, and nothing starts")
  func directoryWithoutPermission() throws {
    let scene = try StoredRunScene(#"  first: {run: 'echo ran >> "$DIR/ran"'}"#)
    // A file in place of the directory is an obstacle for root too.
    try "".write(toFile: scene.scene.file(".opq"), atomically: true, encoding: .utf8)
    let refused = try scene.run(["run", "--batch", scene.file])
    #expect(refused.ending == .status(2))
    refused.expectSentence(".opq")
    #expect(scene.lines("ran") == [])
    // Another directory for the runs helps.
    let state = scene.scene.file("state")
    let moved = try scene.run(["run", "--batch", "--state", state, scene.file])
    #expect(moved.ending == .status(0), "\(moved.errors)")
    #expect(scene.lines("ran") == ["ran"])
    let run = try #require(scene.runs(in: "\(state)/runs").first)
    #expect(run.end(of: "first")?.state == "succeeded")
    #expect(try scene.run(["run", "--resume", "--batch", "--state", state]).ending == .status(0))
    #expect(scene.lines("ran") == ["ran"])
  }

  @Test(
    "RD-6: A read-only file system is one sentence, and nothing starts",
    .enabled(if: OwnMounts.areAllowed, "this user cannot mount file systems"))
  func readOnlyFileSystem() throws {
    let scene = try StoredRunScene(#"  first: {run: 'echo ran >> "$DIR/ran"'}"#)
    let script = #"""
      cd "$1" && mkdir place && cp jobs.yaml place || exit 99
      mount --bind place place && mount -o remount,bind,ro place || exit 99
      cd place && exec "$0" run --batch jobs.yaml
      """#
    let ending = try scene.scene.run(
      OwnMounts.words + ["/bin/sh", "-c", script, BuiltProgram.path, scene.directory],
      of: "/usr/bin/unshare")
    #expect(ending == .status(2))
    let errors = scene.lines("errors")
    #expect(
      errors.count == 1 && errors.first?.contains("Read-only file system") == true, "\(errors)")
    #expect(scene.lines("ran") == [])
    #expect(!FileManager.default.fileExists(atPath: scene.scene.file("place/.opq")))
  }
}
