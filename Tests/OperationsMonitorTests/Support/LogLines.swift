// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Logging
import TestSupport
import Testing

/// A log handler that keeps the logged lines, and can perform an action with each line.
// `@unchecked` because the protocol requires mutable properties, which no test changes.
final class LogLines: LogHandler, @unchecked Sendable {
  var metadata = Logger.Metadata()
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.trace
  private let kept = Monitored<[String]>([])
  private let perform: @Sendable (String) -> Void

  /// Creates a log handler without lines.
  ///
  /// - Parameter perform: A closure that is called with each line, on the thread that logs.
  init(perform: @escaping @Sendable (String) -> Void = { _ in }) { self.perform = perform }

  var lines: [String] { kept.value }

  /// A logger whose lines are added to this object.
  var logger: Logger { Logger(label: "test") { _ in self } }

  /// Waits until a line has been logged that satisfies the predicate.
  func wait(for predicate: (String) -> Bool) {
    wait(for: "a line of the log") { $0.contains(where: predicate) }
  }

  /// Waits until the logged lines satisfy the predicate.
  func wait(for what: String, until predicate: ([String]) -> Bool) {
    kept.wait(for: what, until: predicate)
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let facts = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
    let line = "\(event.message) \(facts.joined(separator: " "))"
    kept.change { $0.append(line) }
    perform(line)
  }
}
