// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Valid frames of every kind of message. Tests damage them at random.
enum WireCorpus {
  static func viewerFrames() throws -> [[UInt8]] {
    var messages: [ViewerMessage] = [
      .hello(WireSamples.viewerHello), .watch(try WireSamples.interest(), interval: .seconds(1)),
      .watch(Interest(), interval: .milliseconds(250)), .credit(8), .ping(.max),
      .bye(reason: "quit"),
    ]
    messages += WireSamples.commands.map { .command($0, token: 77) }
    return messages.map { $0.encoded() }
  }

  static func processFrames() -> [[UInt8]] {
    let messages: [ProcessMessage] = [
      .hello(WireSamples.hello, versions: .current),
      .commandResult(
        token: 77, outcomes: [.requested, .denied, .alreadyFinished, .unknown, .notRetryable],
        dependents: WireSamples.ids(1, 2, .max), refusals: WireSamples.refusals),
      .pong(.max), .bye(Farewell(cause: .processEnds, reason: "the process ends")),
    ]
    let laterPart = HandMade.message(
      2, HandMade.number(2, 1),
      HandMade.message(
        4, HandMade.number(1, 1_043), HandMade.packed(2, (0..<50).map { $0 << 24 })),
      HandMade.packed(7, 1...20))
    return messages.map { $0.encoded() } + Array(UpdateParts(WireSamples.update)) + [laterPart]
  }
}
