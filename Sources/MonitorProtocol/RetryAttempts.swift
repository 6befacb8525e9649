// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The attempts of a retry: an operation that runs other operations, one after the other, until one of
/// them succeeds.
///
/// Attempts are not added to a queue, so a queue does not count them. Commands do not apply to them.
public struct RetryAttempts: Sendable, Equatable {
  /// One attempt.
  public struct Attempt: Sendable, Equatable, Identifiable {
    /// Identifies the operation of the attempt.
    public let id: OperationReport.ID
    /// The number of the attempt; the first attempt has the number 1.
    public var number: Int
    /// The name of the attempt's operation, unsanitised. The name may contain any characters and may be
    /// empty.
    public var name: String
    /// The kind of the attempt's operation, unsanitised.
    public var kind: String
    /// The state of the attempt: executing, cancelling, finished, failed or cancelled.
    public var state: OperationState
    /// The time when the attempt started.
    public var started: MonitorTime
    /// The time when the attempt finished; `nil` if it has not.
    public var finished: MonitorTime?

    /// Creates an attempt from its values.
    public init(
      id: OperationReport.ID, number: Int, name: String, kind: String, state: OperationState,
      started: MonitorTime, finished: MonitorTime? = nil
    ) {
      self.id = id
      self.number = number
      self.name = name
      self.kind = kind
      self.state = state
      self.started = started
      self.finished = finished
    }

    /// The name of the attempt's operation, or its kind if it has no name; unsanitised.
    package var title: String { name.isEmpty ? kind : name }

    /// Returns how long the attempt ran or, if it has not finished, how long it has run until `now`.
    package func duration(at now: MonitorTime) -> Duration {
      max(.zero, (finished ?? now) - started)
    }
  }

  /// The error of a failed attempt.
  public struct Failure: Sendable, Equatable {
    /// The number of the attempt.
    public var number: Int
    /// The text of the error, unsanitised and at most 1 KiB of UTF-8.
    public var text: String

    /// Creates the error of an attempt.
    public init(number: Int, text: String) {
      self.number = number
      self.text = text
    }
  }

  /// The maximum number of ``attempts``.
  public static let limit = 16

  /// The maximum number of attempts of the retry.
  public var maximum: Int
  /// The number of the last attempt that was started; 0 before the first one.
  public var number: Int
  /// The last attempts that were started while the process was watched, the oldest first.
  public var attempts: [Attempt]
  /// The time at which the pause before the next attempt ends; `nil` if there is no pause.
  public var pauseEnd: MonitorTime?
  /// The last known error of an attempt; `nil` if no error is known, or if it is the error of the retry.
  public var lastFailure: Failure?

  /// Creates the attempts of a retry. Omitted values are unknown or empty.
  public init(
    maximum: Int, number: Int = 0, attempts: [Attempt] = [], pauseEnd: MonitorTime? = nil,
    lastFailure: Failure? = nil
  ) {
    self.maximum = maximum
    self.number = number
    self.attempts = attempts
    self.pauseEnd = pauseEnd
    self.lastFailure = lastFailure
  }
}
