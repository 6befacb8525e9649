// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Whether the wrapper of a job is alive, according to the files of the job.
struct SlurmWrapper: Sendable {
  /// The default of the time after which a wrapper counts as dead if its file has not changed.
  static let usualLimit = Duration.seconds(60)
  /// Unreadable files count as files without a change after ``limit`` multiplied by this number.
  private static let patience = 10

  /// The content of the wrapper's file; empty if only its start is known, and `nil` if it has not started.
  private(set) var sign: String?

  /// The time after which the wrapper counts as dead if its file has not changed.
  let limit: Duration
  private var change = Duration.zero
  private var lastLook = Duration.zero
  private var unreadableSince: Duration?

  /// Creates the state of a wrapper that has not started.
  ///
  /// - Parameter limit: The time after which the wrapper counts as dead if its file has not changed.
  init(limit: Duration) { self.limit = limit }

  /// Whether the wrapper is alive. The time since the last look does not count, because this process may have been
  /// stopped for a long time.
  var isAlive: Bool { sign != nil && lastLook - change <= limit }

  /// Notes the contents of the files.
  ///
  /// - Parameters:
  ///   - contents: The contents.
  ///   - time: The present time.
  ///   - isUrgent: Whether files that cannot be read count as files without a change.
  /// - Returns: Whether the files were read.
  mutating func note(_ contents: SlurmFileContents, at time: Duration, isUrgent: Bool) -> Bool {
    guard contents.isRead else {
      let since = unreadableSince ?? time
      unreadableSince = since
      if isUrgent || time - since > limit * Self.patience { lastLook = time }
      return false
    }
    (unreadableSince, lastLook) = (nil, time)
    if let sign = contents.sign, sign != self.sign { (self.sign, change) = (sign, time) }
    return true
  }

  /// Notes that the wrapper has started, and that its file is not known.
  mutating func noteStart(at time: Duration) {
    if sign == nil { (sign, change, lastLook) = ("", time, time) }
  }
}
