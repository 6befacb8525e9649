// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import Logging
import OperationsCore

/// A log handler with which `opq-top` shows the log lines of operations.
///
/// The handler passes each line to the handler that it wraps. If the line is logged in the work of an
/// operation, it also becomes a line of that operation. This includes asynchronous work, also after it
/// was suspended, and its tasks, except for detached tasks: see `Operation.current`. The operation's
/// line has the message, and then the metadata as `key=value`, sorted by key. `appendLogLine(_:level:)`
/// of an operation documents how many lines are stored.
///
/// Set up the handler once, at the beginning of the program:
///
/// ```swift
/// LoggingSystem.bootstrap { label in
///   OperationLogHandler(wrapping: StreamLogHandler.standardError(label: label))
/// }
/// ```
///
/// The log level, the metadata and the metadata provider are those of the wrapped handler. Lines below
/// its log level are not stored. For each stored line, the metadata provider is called once more.
///
/// Viewers of the process can read the stored lines, and recordings contain them. A line that contains
/// a secret should not be logged in an operation.
public struct OperationLogHandler: LogHandler {
  private var wrapped: any LogHandler

  /// Creates a handler that passes all lines to another handler.
  ///
  /// - Parameter handler: The handler that writes the lines.
  public init(wrapping handler: any LogHandler) { wrapped = handler }

  /// The log level of the wrapped handler. Lines below this level are neither written nor stored.
  public var logLevel: Logger.Level {
    get { wrapped.logLevel }
    set { wrapped.logLevel = newValue }
  }

  /// The metadata of the wrapped handler.
  public var metadata: Logger.Metadata {
    get { wrapped.metadata }
    set { wrapped.metadata = newValue }
  }

  /// The metadata provider of the wrapped handler.
  public var metadataProvider: Logger.MetadataProvider? {
    get { wrapped.metadataProvider }
    set { wrapped.metadataProvider = newValue }
  }

  /// A value of the wrapped handler's metadata.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { wrapped[metadataKey: key] }
    set { wrapped[metadataKey: key] = newValue }
  }

  /// Passes a line to the wrapped handler, and stores it if an operation logs it.
  public func log(event: LogEvent) {
    if let operation = Operation.current {
      operation.appendLogLine(text(of: event), level: OperationLogLevel(event.level))
    }
    wrapped.log(event: event)
  }

  /// Returns the message with its metadata. Metadata that would not be stored is left out.
  private func text(of event: LogEvent) -> String {
    var text = event.message.description
    guard text.utf8.count <= OperationLogLine.longestText else { return text }
    for (key, value) in effectiveMetadata(of: event).sorted(by: { $0.key < $1.key }) {
      text += " \(key)=\(value)"
      if text.utf8.count > OperationLogLine.longestText { return text }
    }
    return text
  }

  /// The metadata of the handler, of its provider and of the event. A later value replaces an earlier
  /// one with the same key.
  private func effectiveMetadata(of event: LogEvent) -> Logger.Metadata {
    var metadata = wrapped.metadata
    if let provided = wrapped.metadataProvider?.get() { metadata.merge(provided) { $1 } }
    if let own = event.metadata { metadata.merge(own) { $1 } }
    if let error = event.error { metadata["error"] = "\(error)" }
    return metadata
  }
}

extension OperationLogLevel {
  /// The level with the same name.
  fileprivate init(_ level: Logger.Level) {
    self =
      switch level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
  }
}
