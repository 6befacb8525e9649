// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles

/// Reads job files for tests.
enum Reading {
  /// The example of the reference page.
  static let example = """
    queues: {cpu: {width: 2}, net: {width: 8, rate: 5}}
    defaults: {queue: cpu, grace: 10s, shell: /bin/sh}
    environment: {OUT: out}
    jobs:
      fetch:  {run: 'mkdir -p "$OUT"; seq 9 > "$OUT/all"', queue: net, retries: 3, retry-pause: 2s, timeout: 5m}
      align:  {run: 'grep "$SAMPLE" "$OUT/all" > "$OUT/$SAMPLE"', needs: [fetch], each: {SAMPLE: [1, 2, 3]}}
      polish: {run: 'sort "$OUT/$SAMPLE" -o "$OUT/$SAMPLE"', needs: ['align[$SAMPLE]'], each: {SAMPLE: [1, 2, 3]}}
      merge:  {run: 'cat "$OUT"/[123] > "$OUT/merged"', needs: [polish], priority: high}
      deploy: {run: 'cp "$OUT/merged" site', needs: [merge], once: true}
      notify: {run: 'echo "$OPQ_RESULT"', needs: [deploy], when: always}
    """

  static func plan(_ text: String, name: String = "jobs.yaml") throws -> JobPlan {
    try JobPlan(file: Array(text.utf8), name: name, processorCount: 6)
  }

  /// Returns the mistake in a file.
  static func mistake(_ text: String, name: String = "jobs.yaml") -> String {
    mistake(Array(text.utf8), name: name)
  }

  static func mistake(_ bytes: [UInt8], name: String = "jobs.yaml") -> String {
    do {
      _ = try JobPlan(file: bytes, name: name, processorCount: 6)
      return "no mistake"
    } catch {
      return "\(error)"
    }
  }

  static func lines(_ text: String) throws -> JobPlan {
    try JobPlan(lines: Array(text.utf8), name: "commands.txt", processorCount: 6)
  }
}

extension JobPlan {
  var ids: [String] { jobs.map(\.id) }

  /// Returns the ids of the needs of a job, with each range as a list.
  func needs(_ id: String) -> [[String]] {
    jobs.first { $0.id == id }?.needs.map { $0.map { jobs[$0].id } } ?? []
  }

  func job(_ id: String) -> Job? { jobs.first { $0.id == id } }
}
