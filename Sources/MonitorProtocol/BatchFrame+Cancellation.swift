// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension BatchFrame {
  /// What cancelled an operation.
  public struct Cancellation: Codable, Sendable, Equatable {
    /// The kinds of causes.
    public enum Cause: String, Codable, Sendable {
      /// Code of the process.
      case code
      /// A dependency that failed or was cancelled, and whose success the operation required.
      case dependency
      /// The cancelled group, retry or timeout that contains the operation.
      case container
      /// The time limit of a timeout.
      case timeout
      /// All operations of the queue were cancelled at once.
      case queue
      /// A viewer.
      case viewer
    }

    /// The kind of the cause.
    public var cause: Cause
    /// The cause as a sentence, which names the operation that failed or was cancelled first.
    public var sentence: String
    /// The operation that is the cause; `nil` if the cause is no operation, or an unknown operation.
    public var operation: OperationReport.ID?
    /// The text of the reason that code has given; `nil` if there is none.
    public var reason: String?
    /// The id of the viewer's process; `nil` if the cause is no viewer, or the id is unknown.
    public var pid: Int32?
    /// The id of the user of the viewer; `nil` if the cause is no viewer.
    public var uid: UInt32?

    init(_ report: OperationReport.CancellationCause, sentence: String) {
      self.sentence = sentence
      operation = report.operation
      reason = report.reason
      switch report {
      case .code: cause = .code
      case .dependency: cause = .dependency
      case .container: cause = .container
      case .timeout, .timeLimit: cause = .timeout
      case .queue: cause = .queue
      case .viewer(let origin):
        cause = .viewer
        pid = origin.processID == 0 ? nil : origin.processID
        uid = origin.userID
      }
    }
  }
}
