// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An observed property: a named one, or one that a subclass declares, identified by its key path.
///
/// Key paths have no names on Linux. The key paths of the base classes' properties are found in
/// tables. Other key paths are compared with the key path in an announcement.
// Unchecked because key paths are not declared as immutable.
enum ObservedKey: Equatable, @unchecked Sendable {
  case named(String)
  case path(AnyKeyPath)

  /// Creates the key for a name. Names with and without `is` mean the same property.
  init(_ name: String) { self = .named(Self.canonical(name)) }

  /// Creates the key for a property of the base class or of a subclass.
  init(_ keyPath: AnyKeyPath) {
    self = NamedKeyPaths.name(of: keyPath).map { .named($0) } ?? .path(keyPath)
  }

  var name: String? {
    if case .named(let name) = self { return name }
    return nil
  }

  /// Returns the name with `is` for properties that Objective-C knows by both names.
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

  /// Returns the other names of a canonical key.
  static func aliases(of name: String) -> [String] {
    ["finished", "executing", "ready", "cancelled", "concurrent", "asynchronous", "suspended"]
      .filter { canonical($0) == name }
  }
}

/// The key path of a named property.
// Unchecked because key paths are not declared as immutable.
struct NamedKeyPath: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: String

  init(_ keyPath: AnyKeyPath, _ name: String) {
    self.keyPath = keyPath
    self.name = name
  }
}

/// The named properties, by key paths that begin with any of the classes.
///
/// In Swift, `\Operation.isFinished` and `\Subclass.isFinished` are two properties, even if the
/// subclass does not override `isFinished`. In this library they are the same property. Therefore
/// each class at the beginning of a key path has its own table, which is created when it is first
/// used.
private enum NamedKeyPaths {
  private static let tables = Locked<[ObjectIdentifier: [NamedKeyPath]]>([:])

  /// Returns the name of the property; `nil` if a subclass declares the property.
  static func name(of keyPath: AnyKeyPath) -> String? {
    let root = Swift.type(of: keyPath).rootType
    let known = tables.withLock { $0[ObjectIdentifier(root)] }
    // Key paths are compared outside the lock, because the comparison of a key path's arguments may
    // run the user's code.
    return (known ?? makeTable(of: root)).first { $0.keyPath == keyPath }?.name
  }

  private static func makeTable(of root: Any.Type) -> [NamedKeyPath] {
    let table = (root as? any ObservationHost.Type)?.namedKeyPaths ?? []
    tables.withLock { $0[ObjectIdentifier(root)] = table }
    return table
  }
}

extension ObservationHost where Self: Operation {
  /// The key paths of the named properties, as users of the class write them. If the class made a
  /// property settable, its users write a different key path, which cannot be written here.
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
  /// The key paths of the named properties. Each key path begins with this class.
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
