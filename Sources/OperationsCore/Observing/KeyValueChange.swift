// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The notifications that an observer requests, with Apple's names, values and meanings.
///
/// Source: Apple, "NSKeyValueObservingOptions".
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The observing options as bits. Each option has the same bit as on Apple platforms.
  public let rawValue: UInt

  /// Creates a set of observing options from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// An option: notifications contain the value after the change.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// An option: notifications contain the value before the change.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// An option: an additional notification is sent immediately, on the registering thread, before
  /// the registration returns.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// An option: an additional notification is sent before each change. If an operation finishes
  /// after this notification and before the cancellation takes effect, the cancellation does not
  /// happen, and the second notification is not sent.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}

/// The kind of a change. Operations and queues only use `setting`.
///
/// Source: Apple, "NSKeyValueChange".
public enum NSKeyValueChange: UInt, Sendable {
  /// The value of the property was set.
  case setting = 1
  /// Objects were inserted into a collection. Operations and queues do not use this kind of change.
  case insertion = 2
  /// Objects were removed from a collection. Operations and queues do not use this kind of change.
  case removal = 3
  /// Objects were replaced in a collection. Operations and queues do not use this kind of change.
  case replacement = 4
}

/// The keys of the dictionary that ``KeyValueObserver`` receives.
///
/// Source: Apple, "NSKeyValueChangeKey".
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
  /// The text of the dictionary key.
  public let rawValue: String

  /// Creates a dictionary key from its text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The key for the kind of the change: the raw value of an ``NSKeyValueChange``, a `UInt`. The
  /// dictionary always contains this key.
  public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
  /// The key for the value after the change, if `.new` was requested.
  public static let newKey = NSKeyValueChangeKey(rawValue: "new")
  /// The key for the value before the change, if `.old` was requested.
  public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
  /// The key for the indexes in a collection. The dictionary never contains this key, because
  /// values are only set.
  public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
  /// The key for whether the change is about to happen. The value is `true` in a notification
  /// before the change, if `.prior` was requested. Notifications after a change do not contain this
  /// key.
  public static let notificationIsPriorKey = NSKeyValueChangeKey(
    rawValue: "notificationIsPrior")
}

/// A change of an observed value.
///
/// Source: Apple, "NSKeyValueObservedChange".
public struct NSKeyValueObservedChange<Value> {
  /// The kind of the change; always `.setting`.
  public typealias Kind = NSKeyValueChange

  /// The kind of the change; always `.setting`.
  public let kind: Kind
  /// The value after the change; `nil` if `.new` was not requested, or in a notification before the
  /// change.
  public let newValue: Value?
  /// The value before the change; `nil` if `.old` was not requested, in the initial notification,
  /// or if the change was not announced before it happened.
  public let oldValue: Value?
  /// The indexes in a collection; always `nil`.
  public let indexes: [Int]?
  /// Whether the change is about to happen. It can be `true` only if `.prior` was requested.
  public let isPrior: Bool

  /// Creates a description of a change, for tests of your own observers.
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

/// A change is `Sendable` if its values are.
extension NSKeyValueObservedChange: Sendable where Value: Sendable {}
