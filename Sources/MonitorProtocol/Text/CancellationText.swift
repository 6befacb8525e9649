// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Describes in words what cancelled operations. The words contain names and texts of the process, so they
/// must be sanitised before they are printed.
///
/// A value keeps the paths that it has followed, so that the words about all operations of a long chain take
/// time in proportion to its length.
package struct CancellationText {
  /// The maximum number of operations between an operation and the origin of its cancellation that are
  /// named. If there are more, only the first is named.
  private static let mostNamed = 3
  /// The maximum number of characters of a name.
  private static let nameLimit = 60
  /// The maximum number of characters of the text of an error or a reason.
  private static let textLimit = 200

  /// The way from an operation to the operation that failed or was cancelled first.
  private struct Path {
    var origin: OperationReport.ID
    /// The number of operations between.
    var count = 0
    /// The first of these operations, from the origin on.
    var named: [OperationReport.ID] = []
  }

  private let report: (OperationReport.ID) -> OperationReport?
  private let queueName: (QueueReport.ID) -> String?
  private let isUnicode: Bool
  private let namesProcess: Bool
  private var paths: [OperationReport.ID: Path] = [:]

  /// Creates words about operations.
  ///
  /// - Parameters:
  ///   - isUnicode: Whether the words may contain characters beyond ASCII, apart from names and texts.
  ///   - namesProcess: Whether ids include the number of a process, if several processes are watched.
  ///   - queueName: Returns the name of a queue; `nil` if the queue is not known.
  ///   - report: Returns the report of an operation; `nil` if the operation is not known.
  package init(
    isUnicode: Bool = true, namesProcess: Bool = true,
    queueName: @escaping (QueueReport.ID) -> String?,
    report: @escaping (OperationReport.ID) -> OperationReport?
  ) {
    self.isUnicode = isUnicode
    self.namesProcess = namesProcess
    self.queueName = queueName
    self.report = report
  }

  /// Returns a sentence about the cancellation of an operation, without the operation itself, such as
  /// `cancelled by code`; `nil` if the operation was not cancelled or the cause is unknown.
  package mutating func sentence(about cancelled: OperationReport) -> String? {
    words(about: cancelled).map { "cancelled \($0)" }
  }

  /// Returns the words that follow “cancelled” in a sentence about an operation, such as `by code`; `nil` if
  /// the operation was not cancelled or the cause is unknown.
  package mutating func words(about cancelled: OperationReport) -> String? {
    guard let cause = cancelled.cancellationCause else { return nil }
    guard case .dependency(let dependency) = cause else { return words(for: cause) }
    let path = path(from: dependency)
    let through = path.named.map(words(for:))
    let words = words(aboutOrigin: path.origin)
    if through.isEmpty { return words }
    return path.count <= Self.mostNamed
      ? "\(words), through \(through.joined(separator: ", "))"
      : "\(words), through \(through[0]) and \(path.count - 1) more"
  }

  /// Returns whether an operation that the words about a cancelled operation name is not known.
  package mutating func isIncomplete(about cancelled: OperationReport) -> Bool {
    switch cancelled.cancellationCause {
    case .dependency(let id):
      guard let origin = report(path(from: id).origin) else { return true }
      return origin.cancellationCause?.operation.map { report($0) == nil } ?? false
    case .container(let id), .timeout(let id): return report(id) == nil
    case .code, .timeLimit, .queue, .viewer, nil: return false
    }
  }

  /// Returns the path from the dependency that cancelled an operation to the origin.
  private mutating func path(from dependency: OperationReport.ID) -> Path {
    // The operations whose paths are not known yet, the last one nearest to the origin.
    var followed: [OperationReport.ID] = []
    var seen: Set<OperationReport.ID> = []
    var current = dependency
    while paths[current] == nil, seen.insert(current).inserted,
      case .dependency(let next)? = report(current)?.cancellationCause, !seen.contains(next)
    {
      followed.append(current)
      current = next
    }
    var path = paths[current] ?? Path(origin: current)
    paths[current] = path
    for id in followed.reversed() {
      path.count += 1
      if path.named.count < Self.mostNamed { path.named.append(id) }
      paths[id] = path
    }
    return path
  }

  /// Returns the words about the operation that failed or was cancelled first.
  private func words(aboutOrigin id: OperationReport.ID) -> String {
    guard let origin = report(id) else { return "because of \(unknown(id))" }
    let name = name(of: origin)
    switch origin.state {
    case .failed: return "because \(name) failed\(suffix(origin.errorText))"
    case .cancelling, .cancelled:
      var cause = ""
      // Another dependency as the cause means that the dependencies form a cycle.
      switch origin.cancellationCause {
      case .dependency, nil: break
      case .some(let own): cause = " \(words(for: own))"
      }
      return "because \(name) was cancelled\(cause)"
    case .waiting, .ready, .held, .executing, .finished: return "because \(name) did not succeed"
    }
  }

  /// Returns the words for a cause other than a dependency.
  private func words(for cause: OperationReport.CancellationCause) -> String {
    switch cause {
    case .code(let reason): return "by code\(suffix(reason))"
    case .dependency(let id): return words(aboutOrigin: id)
    case .container(let id):
      guard let container = report(id) else { return "with \(unknown(id))" }
      return "with its \(container.containerWord) \(name(of: container))"
    case .timeout(let id):
      guard let timeout = report(id) else {
        return "because \(unknown(id)), reached its time limit"
      }
      return "because \(name(of: timeout)) reached its time limit"
    case .timeLimit: return "because a time limit was reached"
    case .queue(let id, let reason):
      let name = queueName(id).flatMap { $0.isEmpty ? nil : "queue \(quoted($0))" } ?? "its queue"
      return "with all operations of \(name)\(suffix(reason))"
    case .viewer(let origin):
      let process = origin.processID == 0 ? "" : "process \(origin.processID), "
      return "by a viewer (\(process)user \(origin.userID))"
    }
  }

  private func unknown(_ id: OperationReport.ID) -> String {
    "\(words(for: id)), an operation that is not known"
  }

  private func name(of report: OperationReport) -> String {
    let id = words(for: report.id)
    return report.title.isEmpty ? id : "\(id) \(quoted(report.title))"
  }

  private func words(for id: OperationReport.ID) -> String {
    "\(namesProcess ? id : id.withinProcess)"
  }

  private func quoted(_ name: String) -> String {
    let name = shortened(name, to: Self.nameLimit)
    return isUnicode ? "“\(name)”" : "\"\(name)\""
  }

  /// Returns a text with a colon before it. A full stop at the end is left out, because the sentence may
  /// continue.
  private func suffix(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "" }
    let shown = shortened(text, to: Self.textLimit)
    let isSentence = shown.hasSuffix(".") && !shown.hasSuffix("..")
    return ": \(isSentence ? String(shown.dropLast()) : shown)"
  }

  /// Returns a text, or its beginning and an ellipsis if it is longer than `count` characters. Text after
  /// the limit is not read.
  private func shortened(_ text: String, to count: Int) -> String {
    guard !text.unicodeScalars.dropFirst(count).isEmpty else { return text }
    let ellipsis = isUnicode ? "…" : ".."
    let kept = text.unicodeScalars.prefix(count - ellipsis.unicodeScalars.count)
    return String(String.UnicodeScalarView(kept)) + ellipsis
  }
}

extension OperationReport {
  /// The word for this operation as the container of another one. A subclass of `GroupOperation` may have
  /// any name; the other two classes have no subclasses.
  fileprivate var containerWord: String {
    if className.hasPrefix("RetryOperation<") { return "retry" }
    return className.hasPrefix("TimeoutOperation<") ? "timeout" : "group"
  }
}
