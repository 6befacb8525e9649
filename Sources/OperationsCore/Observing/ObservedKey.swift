// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What is observed: a property with a name, or a subclass's own property, known by its key path.
///
/// A key path has no name on Linux. Those of the base classes' properties are known by tables; others
/// are compared with the key path that is given when a change is announced.
// Unchecked because key paths do not say that they are immutable.
enum ObservedKey: Equatable, @unchecked Sendable {
  case named(String)
  case path(AnyKeyPath)

  /// The key of this name; names with and without `is` mean the same.
  init(_ name: String) { self = .named(Self.canonical(name)) }

  /// The key of a property of the base class, or of a subclass's own.
  init(_ keyPath: AnyKeyPath) {
    self = NamedKeyPaths.name(of: keyPath).map { .named($0) } ?? .path(keyPath)
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
}

/// A key path of a property that has a name.
// Unchecked because key paths do not say that they are immutable.
struct NamedKeyPath: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: String

  init(_ keyPath: AnyKeyPath, _ name: String) {
    self.keyPath = keyPath
    self.name = name
  }
}

/// The properties that have names, by key paths that begin at any of the classes.
///
/// To Swift `\Operation.isFinished` and `\Subclass.isFinished` are two properties, overridden or not.
/// To us they are the same one: so each class that a key path begins at has a table of its own, made
/// when it is first asked for.
private enum NamedKeyPaths {
  private static let tables = Locked<[ObjectIdentifier: [NamedKeyPath]]>([:])

  /// The name of the property; `nil` for a subclass's own.
  static func name(of keyPath: AnyKeyPath) -> String? {
    let root = Swift.type(of: keyPath).rootType
    let known = tables.withLock { $0[ObjectIdentifier(root)] }
    // Compared outside the lock: what a key path has for arguments may be the user's to compare.
    return (known ?? makeTable(of: root)).first { $0.keyPath == keyPath }?.name
  }

  private static func makeTable(of root: Any.Type) -> [NamedKeyPath] {
    let table = (root as? any ObservationHost.Type)?.namedKeyPaths ?? []
    tables.withLock { $0[ObjectIdentifier(root)] = table }
    return table
  }
}

extension ObservationHost where Self: Operation {
  /// By key paths that begin at this class, as its users write them; but where it made a property
  /// settable, theirs is one that cannot be spelled here.
  static var namedKeyPaths: [NamedKeyPath] {
    [
      NamedKeyPath(\Self.isReady, "isReady"), NamedKeyPath(\Self.isExecuting, "isExecuting"),
      NamedKeyPath(\Self.isFinished, "isFinished"),
      NamedKeyPath(\Self.isCancelled, "isCancelled"),
      NamedKeyPath(\Self.isAsynchronous, "isAsynchronous"),
      NamedKeyPath(\Self.isConcurrent, "isConcurrent"),
      NamedKeyPath(\Self.dependencies, "dependencies"),
      NamedKeyPath(\Self.queuePriority, "queuePriority"),
      NamedKeyPath(\Self.completionBlock, "completionBlock"),
      NamedKeyPath(\Self.qualityOfService, "qualityOfService"), NamedKeyPath(\Self.name, "name"),
    ]
  }
}

extension ObservationHost where Self: OperationQueue {
  /// By key paths that begin at this class.
  static var namedKeyPaths: [NamedKeyPath] {
    [
      NamedKeyPath(\Self.operations, "operations"),
      NamedKeyPath(\Self.operationCount, "operationCount"),
      NamedKeyPath(\Self.maxConcurrentOperationCount, "maxConcurrentOperationCount"),
      NamedKeyPath(\Self.isSuspended, "isSuspended"),
      NamedKeyPath(\Self.qualityOfService, "qualityOfService"), NamedKeyPath(\Self.name, "name"),
    ]
  }
}
