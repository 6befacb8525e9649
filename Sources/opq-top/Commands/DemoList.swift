// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import DemoWorkloads

/// The catalogue of demos as text.
enum DemoList {
  /// What `--list` prints: for each demo what it is, and what to look at and which keys to press.
  static var text: String {
    rows { [$0.summary, $0.guidance] } + "\n"
      + "Run one with: opq-top demo NAME. In it, ? lists the keys and q quits.\n"
  }

  /// What `help demo` says of the demos: what each is, and what one round of it is.
  static var discussion: String {
    "The demos, and what a run with --once does:\n\n"
      + rows { [$0.summary, "--once: \($0.round)"] }
      + "\n--list says what to look at in each of them, and which keys to press."
  }

  /// A demo's name and its first line; the further lines stand below that.
  private static func rows(_ lines: (Demo) -> [String]) -> String {
    let width = Demo.allCases.map(\.name.count).max() ?? 0
    let indentation = String(repeating: " ", count: width + 2)
    return Demo.allCases.map { demo in
      let name = demo.name + String(repeating: " ", count: width - demo.name.count + 2)
      return name + lines(demo).joined(separator: "\n" + indentation) + "\n"
    }.joined()
  }
}
