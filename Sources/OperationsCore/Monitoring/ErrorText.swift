// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Creates the texts of errors for viewers.
enum ErrorText {
  /// The maximum number of UTF-8 bytes of a text.
  static let limit = 1_024

  /// Returns the description of an error, of which at most ``limit`` bytes are kept.
  ///
  /// This function calls the code of the user that describes the error.
  static func text(of error: any Error) -> String {
    let text = "\(error)"
    guard text.utf8.count > limit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: limit)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text.unicodeScalars[..<end])
  }
}

extension Operation {
  /// Notifies the queue that the operation has finished with an error, if it has an error. The text
  /// of the error is created only if a collector records operations.
  ///
  /// Called once, by the thread that finishes the operation, before the operation leaves the queue.
  final func reportErrorToQueue() {
    guard let error, let queue = enqueuedQueue else { return }
    let text = MonitorLevel.isOn ? ErrorText.text(of: error) : nil
    queue._withUnsafeGuaranteedRef { $0.noteError(of: self, text: text) }
  }
}

extension QueueCore {
  fileprivate func noteError(of operation: Operation, text: String?) {
    withScheduler { scheduler, _ in scheduler.noteError(of: operation, text: text) }
  }
}

extension QueueScheduler {
  /// Stores that an operation has finished with an error, before the operation leaves the queue. The
  /// text of the error is `nil` if no collector records operations.
  fileprivate mutating func noteError(of operation: Operation, text: String?) {
    operation.place.hasFailed = true
    if let text { monitor.didFinish(operation, withError: text) }
  }
}
