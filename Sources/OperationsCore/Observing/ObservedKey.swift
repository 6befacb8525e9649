// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Identifies an observed property: by name if the base class declares the property, and by key
/// path if a subclass declares it.
///
/// Key paths have no names on Linux. The key paths of the base classes' properties are found in
/// tables. Other key paths are compared with the key path in an announcement.
// Unchecked `Sendable` conformance, because Swift does not declare key paths as `Sendable`,
// although they are immutable.
enum ObservedKey: Equatable, @unchecked Sendable {
  case named(String)
  case path(AnyKeyPath)

  /// Creates the key for a name. A name with `is` and the same name without it identify the same
  /// property.
  init(_ name: String) { self = .named(Self.canonical(name)) }

  /// Creates the key for a property of the base class or of a subclass.
  init(_ keyPath: AnyKeyPath) {
    self = NamedKeyPaths.name(of: keyPath).map { .named($0) } ?? .path(keyPath)
  }

  var name: String? {
    if case .named(let name) = self { return name }
    return nil
  }

  /// Returns the name of a property that begins with `is`, if Objective-C accepts the name with and
  /// without `is`; otherwise `name`.
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

  /// Returns the other names of a property, such as `finished` for `isFinished`.
  static func aliases(of name: String) -> [String] {
    ["finished", "executing", "ready", "cancelled", "concurrent", "asynchronous", "suspended"]
      .filter { canonical($0) == name }
  }
}

/// A property that can be observed by name, with its key path.
// Unchecked `Sendable` conformance, because Swift does not declare key paths as immutable.
struct NamedKeyPath: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: String

  init(_ keyPath: AnyKeyPath, _ name: String) {
    self.keyPath = keyPath
    self.name = name
  }
}

/// Finds the name of a property by its key path, which may begin with any subclass.
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
  /// The properties that can be observed by name, with the key paths that users of the class write.
  /// The table does not contain properties that the class has made settable, because their key
  /// paths are different and cannot be written here.
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
  /// The properties that can be observed by name, with their key paths. Each key path begins with
  /// this class.
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
