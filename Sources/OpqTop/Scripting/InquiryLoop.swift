// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Glibc
import MonitorClient
import MonitorProtocol

/// Lets a process answer an ``Inquiry``.
struct InquiryLoop {
  let source: any MonitorSource
  let waker: Waker
  let watch: TerminationWatch

  /// Runs until the inquiry is over, or a signal comes. What was asked for has to be watched already.
  func run(_ inquiry: some Inquiry) -> Ending {
    var inquiry = inquiry
    while true {
      if let signal = watch.takeRequest() { return .signal(signal) }
      for message in source.takeMessages() {
        if let ending = Self.perform(inquiry.take(message, at: .now), send: source.send) {
          return ending
        }
      }
      if let moment = inquiry.nextLook, moment <= .now,
        let ending = Self.perform(inquiry.look(at: .now), send: source.send)
      {
        return ending
      }
      waker.wait(until: inquiry.nextLook)
    }
  }

  /// Does what an inquiry wants; `nil` where it is not over.
  static func perform(
    _ actions: [InquiryAction], send: (MonitorCommand) -> Void
  ) -> Ending? {
    for action in actions {
      switch action {
      case .send(let command): send(command)
      case .print(let text):
        let error = StandardStream.output.write(text)
        // Whoever reads no further has seen enough, but what was asked goes on.
        if error != 0, error != EPIPE { return Program.failToWrite(error) }
      case .end(let status, nil): return .status(status)
      case .end(let status, let message?): return Program.fail(message, status: status)
      }
    }
    return nil
  }
}
