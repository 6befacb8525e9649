// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What an observer wants to be told. Apple's names, values and meanings.
///
/// Source: Apple, "NSKeyValueObservingOptions".
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits, as on Apple platforms.
  public let rawValue: UInt

  /// Creates a set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The value after the change.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// The value before the change.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// One notification at once, on the registering thread, before registration returns.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// One notification more, before each change. A cancellation that an operation's finish overtakes
  /// after that does not happen, and the second notification does not come.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}

/// How a value changed. Operations and queues only ever set theirs.
///
/// Source: Apple, "NSKeyValueChange".
public enum NSKeyValueChange: UInt, Sendable {
  /// The value was set.
  case setting = 1
  /// Objects were inserted into a collection. Not used here.
  case insertion = 2
  /// Objects were removed from a collection. Not used here.
  case removal = 3
  /// Objects were replaced in a collection. Not used here.
  case replacement = 4
}

/// What can be looked up in the dictionary that ``KeyValueObserver`` gets.
///
/// Source: Apple, "NSKeyValueChangeKey".
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
  /// The key's text.
  public let rawValue: String

  /// Creates a key from its text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The raw value of an ``NSKeyValueChange``, a `UInt`. Always there.
  public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
  /// The value after the change, where `.new` was asked for.
  public static let newKey = NSKeyValueChangeKey(rawValue: "new")
  /// The value before the change, where `.old` was asked for.
  public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
  /// The places in a collection. Never there: values are only ever set.
  public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
  /// `true` before the change, where `.prior` was asked for; else not there.
  public static let notificationIsPriorKey = NSKeyValueChangeKey(
    rawValue: "notificationIsPrior")
}

/// What happened to an observed value.
///
/// Source: Apple, "NSKeyValueObservedChange".
public struct NSKeyValueObservedChange<Value> {
  /// How the value changed; `.setting`, always.
  public typealias Kind = NSKeyValueChange

  /// How the value changed; `.setting`, always.
  public let kind: Kind
  /// The value after the change; `nil` unless asked for by `.new`, and before a change.
  public let newValue: Value?
  /// The value before the change; `nil` unless asked for by `.old`, in the initial notification,
  /// and where the change was announced by nobody before it happened.
  public let oldValue: Value?
  /// The places in a collection; `nil`, always.
  public let indexes: [Int]?
  /// Whether the change is about to happen. Only where asked for by `.prior`.
  public let isPrior: Bool

  /// Creates a description of a change, for tests of one's own observers.
  public init(
    kind: Kind = .setting, newValue: Value? = nil, oldValue: Value? = nil, indexes: [Int]? = nil,
    isPrior: Bool = false
  ) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    self.indexes = indexes
    self.isPrior = isPrior
  }
}

/// Can be handed to other threads where its values can.
extension NSKeyValueObservedChange: Sendable where Value: Sendable {}
