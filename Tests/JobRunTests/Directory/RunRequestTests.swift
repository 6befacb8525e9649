// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("The request of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunRequestTests {
  @Test("RD-1: A request is read as it was written")
  func roundTrip() throws {
    let text = "a\"b\\\n\u{1B}\u{202E}ü👩‍👧"
    let full = RunRequest(
      file: text, title: text, isLines: true, width: 3, only: [text, ""], until: ["x"],
      failsFast: true, directory: text, created: 7, variables: [text: "0123", "B": ""])
    var clustered = full
    clustered.cluster = RunCluster("slurm:login:/data/\(text)")
    clustered.cluster?.pollInterval = .milliseconds(1_500)
    let small = RunRequest(file: nil, title: "", directory: "/", created: 0)
    for request in [full, clustered, small] {
      #expect(try RunRequest(json: request.json) == request)
      #expect(request.json.count { $0 < 0x20 } == 1 && request.json.last == UInt8(ascii: "\n"))
    }
  }

  @Test("RD-1: The keys of a request are in ascending order, without keys that have no value")
  func keys() {
    let request = RunRequest(file: nil, title: "t", directory: "/d", created: 7)
    #expect(
      String(decoding: request.json, as: UTF8.self)
        == #"{"created":7,"directory":"/d","failsFast":false,"isLines":false,"only":[],"#
        + #""title":"t","until":[],"variables":{},"version":1}"# + "\n")
  }

  @Test("JS-8: A request of a run on a cluster has the place and the time between two calls")
  func clusterKeys() {
    let request = RunRequest(
      file: nil, title: "t", cluster: RunCluster("slurm"), directory: "/d", created: 7)
    #expect(
      String(decoding: request.json, as: UTF8.self)
        == #"{"created":7,"directory":"/d","failsFast":false,"isLines":false,"on":"slurm","only":[],"#
        + #""poll":10000,"title":"t","until":[],"variables":{},"version":1}"# + "\n")
  }

  @Test(
    "RD-6: A damaged request is one sentence",
    arguments: [
      "", "{", "{}", "[]", #"{"directory":"/"}"#, #"{"created":7,"directory":1}"#,
      #"{"created":7,"directory":"/","on":"other"}"#,
      #"{"created":7,"directory":"/","on":"slurm:login:work"}"#,
    ])
  func damaged(text: String) throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    DirectoryScene.write(text, to: run.request)
    let failure = #expect(throws: RunFailure.self) { try RunRequest.read(run) }
    #expect(failure?.description == "the file \(run.request) is damaged")
  }

  @Test("RD-4: The variables that commands name and that the file does not set have hashes")
  func variables() throws {
    let plan = try DirectoryScene.plan(
      #"""
        a: {run: 'echo $ONE ${TWO:-x} "${#THREE}" $$FOUR $5 ${!SIX} $ $(SEVEN) $OPQ_JOB \$EIGHT_8é'}
        b: {run: 'echo $SET $EACH $ONE', each: {EACH: [1]}}
        c: {run: 'echo $EACH ${'}
      """#, head: "environment: {SET: 1}")
    let values = ["ONE": "1", "TWO": "", "EACH": "x"]
    let hashes = RunVariables.hashes(of: plan) { values[$0] }
    #expect(hashes.keys.sorted() == ["EACH", "EIGHT_8", "ONE", "SIX", "THREE", "TWO"])
    #expect(hashes["TWO"] == "cbf29ce484222325" && hashes["THREE"] == "")
    #expect(hashes["ONE"] != hashes["TWO"] && hashes["ONE"] != "1")
  }

  @Test("RD-4: A sentence names the variables whose values differ from those of the first runner")
  func change() {
    let earlier = ["A": "1", "B": "", "C": "3", "GONE": "4"]
    #expect(RunVariables.change(from: earlier, to: earlier) == nil)
    #expect(RunVariables.change(from: earlier, to: ["A": "1", "NEW": "5"]) == nil)
    #expect(
      RunVariables.change(from: earlier, to: ["B": "2", "C": "3"])
        == "the variable B has another value than at the start of the run")
    #expect(
      RunVariables.change(from: earlier, to: ["C": "", "B": "2"])
        == "the variables B, C have other values than at the start of the run")
    let many = Dictionary(uniqueKeysWithValues: (10..<30).map { ("V\($0)", "x") })
    #expect(
      RunVariables.change(from: many, to: many.mapValues { $0 + "y" })?
        .hasPrefix("the variables V10, V11, V12, V13, V14, V15, V16, V17, V18, V19 and 10 more")
        == true)
  }

  @Test("RD-4: The values of variables are those of the environment of this process")
  func environment() {
    #expect(RunVariables.environmentValue(of: "PATH")?.isEmpty == false)
    #expect(RunVariables.environmentValue(of: "OPQ_NO_SUCH_VARIABLE") == nil)
  }
}
