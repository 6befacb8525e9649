// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is observed: a property with a name, or a subclass's own property, known by its key path.
///
/// A key path has no name on Linux. Those of the base classes are known by a table; others are
/// compared with the key path that is given when a change is announced.
// Unchecked because key paths do not say that they are immutable.
enum ObservedKey: Equatable, @unchecked Sendable {
  case named(String)
  case path(AnyKeyPath)

  /// The key of this name; names with and without `is` mean the same.
  init(_ name: String) { self = .named(Self.canonical(name)) }

  /// The key of a property of the base class, or of a subclass's own.
  init(_ keyPath: AnyKeyPath) {
    let known = Self.properties.first { $0.keyPath == keyPath }
    self = known.map { .named($0.name) } ?? .path(keyPath)
  }

  var name: String? {
    if case .named(let name) = self { return name }
    return nil
  }

  /// The name with `is` for the properties that Objective-C knows by both.
  static func canonical(_ name: String) -> String {
    switch name {
    case "finished": "isFinished"
    case "executing": "isExecuting"
    case "ready": "isReady"
    case "cancelled": "isCancelled"
    case "concurrent": "isConcurrent"
    case "asynchronous": "isAsynchronous"
    case "suspended": "isSuspended"
    default: name
    }
  }

  /// The other names of a canonical key.
  static func aliases(of name: String) -> [String] {
    ["finished", "executing", "ready", "cancelled", "concurrent", "asynchronous", "suspended"]
      .filter { canonical($0) == name }
  }

  private struct Property: @unchecked Sendable {
    let keyPath: AnyKeyPath
    let name: String
  }

  private static let properties: [Property] = [
    Property(keyPath: \Operation.isReady, name: "isReady"),
    Property(keyPath: \Operation.isExecuting, name: "isExecuting"),
    Property(keyPath: \Operation.isFinished, name: "isFinished"),
    Property(keyPath: \Operation.isCancelled, name: "isCancelled"),
    Property(keyPath: \Operation.isAsynchronous, name: "isAsynchronous"),
    Property(keyPath: \Operation.isConcurrent, name: "isConcurrent"),
    Property(keyPath: \Operation.dependencies, name: "dependencies"),
    Property(keyPath: \Operation.queuePriority, name: "queuePriority"),
    Property(keyPath: \Operation.completionBlock, name: "completionBlock"),
    Property(keyPath: \Operation.qualityOfService, name: "qualityOfService"),
    Property(keyPath: \Operation.name, name: "name"),
    Property(keyPath: \OperationQueue.operations, name: "operations"),
    Property(keyPath: \OperationQueue.operationCount, name: "operationCount"),
    Property(
      keyPath: \OperationQueue.maxConcurrentOperationCount, name: "maxConcurrentOperationCount"),
    Property(keyPath: \OperationQueue.isSuspended, name: "isSuspended"),
    Property(keyPath: \OperationQueue.qualityOfService, name: "qualityOfService"),
    Property(keyPath: \OperationQueue.name, name: "name"),
  ]
}
