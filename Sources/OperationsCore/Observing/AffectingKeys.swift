// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The results of subclasses' `keyPathsForValuesAffectingValue(forKey:)`, which is called once for
/// each class.
enum AffectingKeys {
  /// The names of the properties of an operation whose changes affect its queue, in the order in
  /// which a queue handles the changes.
  private static let keys = ["isExecuting", "isFinished", "isCancelled", "isReady"]

  /// For each class that was examined, a table from each key to the keys whose values depend on its
  /// value.
  private static let tables = Locked<[ObjectIdentifier: [String: [String]]]>([:])

  /// The last class that was found to declare no dependent keys. Because of this cache, most
  /// changes acquire no lock.
  private static let plainClass = Atomic<UInt>(0)

  /// Returns those of the properties `isExecuting`, `isFinished`, `isCancelled` and `isReady` whose
  /// values depend on the value of `key`.
  static func keys(affectedBy key: String, of type: Operation.Type) -> [String] {
    let id = ObjectIdentifier(type)
    let bits = UInt(bitPattern: id)
    if plainClass.load(ordering: .relaxed) == bits { return [] }
    let known = tables.withLock { $0[id] }
    let table = known ?? makeTable(of: type)
    if known == nil { tables.withLock { $0[id] = table } }
    if table.isEmpty { plainClass.store(bits, ordering: .relaxed) }
    return table[key] ?? []
  }

  private static func makeTable(of type: Operation.Type) -> [String: [String]] {
    var table: [String: [String]] = [:]
    for key in keys {
      for affecting in self.keys(affecting: key, of: type) {
        table[affecting, default: []].append(key)
      }
    }
    return table
  }

  /// Returns all keys on whose values the value of `key` depends, directly or through other keys.
  static func keys(affecting key: String, of type: Operation.Type) -> Set<String> {
    var found: Set<String> = []
    var open = [key]
    while let next = open.popLast() {
      // In the list of keys that affect other keys, a subclass may have written the name of a
      // property with or without `is`.
      let names = [next] + ObservedKey.aliases(of: next)
      for name in names.flatMap({ type.keyPathsForValuesAffectingValue(forKey: $0) }) {
        let affecting = ObservedKey.canonical(name)
        if affecting != key, found.insert(affecting).inserted { open.append(affecting) }
      }
    }
    return found
  }
}
