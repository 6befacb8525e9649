// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Measures the dashboard from outside, on a terminal of 120x40: how long until its first frame, how
// long frames take beside a million operations, and what it costs when nothing happens.

import Glibc
import TestSupport

/// `opq-top`, which was built into the same folder.
let program = {
  var path = [CChar](repeating: 0, count: 4_096)
  _ = readlink("/proc/self/exe", &path, path.count - 1)
  let folder = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    .split(separator: "/").dropLast()
  return folder.map { "/\($0)" }.joined() + "/opq-top"
}()

/// Starts it on a terminal of its own.
func start(_ arguments: [String], redirections: [Int32: String] = [:]) throws -> PseudoTerminal {
  let window = try PseudoTerminal(columns: 120, rows: 40)
  try window.start(program, arguments, redirections: redirections)
  return window
}

func milliseconds(_ duration: Duration) -> String {
  "\((duration / .microseconds(1)).rounded() / 1_000) ms"
}

func measureStart() throws {
  let times = try (0..<21).map { _ in
    let began = ContinuousClock.now
    let window = try start(["demo"])
    guard window.wait(until: { $0.isAlternate && $0.contains("Quit") }) else {
      print("there was no first frame")
      exit(1)
    }
    let time = began.duration(to: .now)
    window.type("Q")
    _ = window.waitForEnd()
    return time
  }.sorted()
  print("to the first frame: median \(milliseconds(times[10])), longest \(milliseconds(times[20]))")
}

func measureFrames() throws {
  var file = Array("/tmp/opq-frame-times-XXXXXX\0".utf8CString)
  let descriptor = mkstemp(&file)
  let path = String(decoding: file.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
  defer {
    close(descriptor)
    unlink(path)
  }
  let window = try start(["demo", "storm", "--frame-times"], redirections: [2: path])
  let isThere = window.wait(seconds: 120) { $0.contains("of 1,0") }
  window.absorb(for: .seconds(20))
  window.type("Q")
  _ = window.waitForEnd(seconds: 60)
  var text = [UInt8](repeating: 0, count: 1_024)
  let count = max(0, pread(descriptor, &text, text.count, 0))
  let line = String(decoding: text[..<count], as: UTF8.self)
  print("with a million operations\(isThere ? "" : " (fewer had come)"): \(line)", terminator: "")
}

func measureRest() throws {
  let window = try start(["demo", "--once", "--speed", "50"])
  _ = window.wait(seconds: 150) { $0.contains("the demo has finished") }
  window.absorb(for: .seconds(2))
  let (bytes, time) = (window.byteCount, window.processorTime)
  window.absorb(for: .seconds(20))
  guard let before = time, let after = window.processorTime else { return }
  let share = (after - before) / .seconds(20) * 100
  print(
    "at rest, in 20 s: \(window.byteCount - bytes) bytes, \(milliseconds(after - before)) of a core"
      + " (\((share * 1_000).rounded() / 1_000) %)")
  window.type("q")
  _ = window.waitForEnd()
}

try measureStart()
try measureRest()
try measureFrames()
