// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorProtocol

/// The loop that runs an ``Inquiry`` with a process.
struct InquiryLoop {
  let source: any MonitorSource
  let waker: Waker
  let watch: TerminationWatch

  /// Runs until the inquiry ends or a signal arrives. Before this call, the caller must have set
  /// the session's interest, which is the requested data.
  func run(_ inquiry: inout some Inquiry) -> Ending {
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

  /// Performs the actions of an inquiry. Returns the ending of the inquiry; `nil` if it has not
  /// ended.
  static func perform(
    _ actions: [InquiryAction], send: (MonitorCommand) -> Void
  ) -> Ending? {
    for action in actions {
      switch action {
      case .send(let command): send(command)
      case .print(let text):
        let error = StandardStream.output.write(text)
        // If the reader of the output closes it early, the command continues.
        if error != 0, error != StandardStream.brokenPipe { return Program.failToWrite(error) }
      case .end(let status, nil): return .status(status)
      case .end(let status, let message?): return Program.fail(message, status: status)
      }
    }
    return nil
  }
}
