// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import TestSupport
import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The commands that messages propose for a run") struct RunWordsTests {
  @Test("RD-3: The option for the place is a part of the words")
  func place() throws {
    let directory = RunDirectory(path: "/a/state/runs/20260131-235959-k3x9")
    let words = RunWords(directory, try RunPlaceOptions.parse(["--state", "/a/state"]))
    #expect(words.id == "20260131-235959-k3x9")
    #expect(words.attach == "opq-top attach --run 20260131-235959-k3x9 --state /a/state")
    #expect(words.resume == "opq-top run --resume 20260131-235959-k3x9 --state /a/state")
    #expect(words.list == "opq-top runs --state /a/state")
  }

  @Test("RD-3: A run that is not in the working directory has its path, quoted for a shell")
  func otherDirectory() throws {
    let files = try StoredFiles()
    let options = try RunPlaceOptions.parse([])
    #expect(RunWords(files.directory, options).operand == files.directory.path)
    let hostile = RunDirectory(path: "/tmp/it's a $(test)/runs/20260131-235959-k3x9")
    #expect(
      RunWords(hostile, options).operand
        == #"'/tmp/it'\''s a $(test)/runs/20260131-235959-k3x9'"#)
    #expect(RunWords(at: hostile).operand == RunWords(hostile, options).operand)
    #expect(RunWords(hostile, options).list == #"opq-top runs --state '/tmp/it'\''s a $(test)'"#)
  }

  @Test("RD-3: The list of runs is that of the place in which the run was found")
  func list() throws {
    let files = try StoredFiles()
    let state = try #require(RunPath(files.directory.path)?.state)
    #expect(RunWords(try files.found).list == "opq-top runs --state \(state)")
    let found = try FoundRun(files.directory.id, in: RunPlaceOptions.parse(["--state", state]))
    #expect(RunWords(found).list == "opq-top runs --state \(state)")
  }
}
