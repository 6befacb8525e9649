// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

/// The state at one moment of a recording, in the form of messages of a process. Operations that
/// were no longer kept at that moment have the state of their last report.
struct ReplayMoment {
  /// The moment, on the clock of the recorded process.
  let time: MonitorTime
  /// A sentence about the fault of the recording, if the recording ends before the requested moment
  /// because of a fault; otherwise `nil`.
  let fault: String?
  private let hello: Hello
  private let table: ReplayTable

  /// Reads a recording up to a given moment.
  ///
  /// - Parameters:
  ///   - reader: The recording.
  ///   - offset: The time from the beginning of the recording to the moment. If it is `nil` or
  ///     exceeds the recording's length, the moment is the end of the recording.
  init(_ reader: RecordingReader, at offset: Duration?) {
    var reader = reader
    let wanted = offset.map { reader.start + $0 }
    var state = ProcessState(keepingUpTo: RunHistory.operationLimit, linkingDependents: true)
    state.apply(Update(time: reader.start))
    var next = reader.update(at: reader.snapshot(upTo: reader.start))
    while let read = next, wanted.map({ read.update.time <= $0 }) ?? true {
      state.apply(read.update, isWhole: read.isWhole)
      next = reader.update(at: read.end)
    }
    table = ReplayTable(state)
    let last = state.latest?.time ?? reader.start
    var hello = reader.hello
    hello.isReadOnly = true
    self.hello = hello
    time = next == nil ? last : wanted ?? last
    fault = next == nil ? reader.fault : nil
  }

  /// Returns all messages for a viewer that requests the data in this interest.
  func messages(for interest: Interest) -> [MonitorMessage] {
    var table = table
    let update = table.takeUpdate(for: interest, at: time)
    return [.hello(hello)] + (update.map { [.update($0)] } ?? [])
  }

  /// Returns the ids of the operations with given names at the moment.
  ///
  /// - Throws: `NameInquiry.Failure` if a name does not identify one operation.
  func ids(of names: [String]) throws -> [String: OperationReport.ID] {
    var inquiry = NameInquiry(names)
    for message in messages(for: inquiry.interest) { inquiry.knowledge.take(message, at: time) }
    return try inquiry.ids()
  }

  /// Answers an inquiry with the state at the moment. An operation that is unknown at that moment
  /// stays unknown, because no further messages arrive. If the recording is damaged and the moment
  /// is its end, the error is reported.
  func answer(_ inquiry: some Inquiry) -> Ending {
    defer { if let fault { StandardStream.error.write(Program.errorLine(fault)) } }
    var inquiry = inquiry
    inquiry.knowledge.recordedTime = time
    let refuse = { (_: MonitorCommand) in }
    for message in messages(for: inquiry.interest) {
      let actions = inquiry.take(message, at: time)
      if let ending = InquiryLoop.perform(actions, send: refuse) { return ending }
    }
    let actions =
      inquiry.leave(at: time) + [
        .end(1, "the recording does not contain the requested information")
      ]
    return InquiryLoop.perform(actions, send: refuse) ?? .status(1)
  }
}
