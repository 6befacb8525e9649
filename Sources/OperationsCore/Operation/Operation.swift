// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// One unit of work: code and data that run once, by hand or on an ``OperationQueue``.
///
/// Synchronous work overrides ``main()``. Asynchronous work overrides ``start()``,
/// ``isAsynchronous``, ``isExecuting`` and ``isFinished`` and announces each change of the latter
/// two by `willChangeValue(forKey:)` and `didChangeValue(forKey:)`; the queue learns of the
/// operation's progress from these alone.
///
/// Every member may be used on any thread. Nothing of a subclass's (override, block, `deinit`) is
/// called while a lock of this library is held.
///
/// Source: Apple, "NSOperation Class Reference".
// Unchecked because an open class cannot be checked. `status` is atomic; `links` and what is in
// `extra` are guarded by `lock`, but for what the finisher takes (`takeDependents`); `inboxNext` belongs
// to whoever has claimed the push; `place` is guarded by the queue's lock, and belongs to the adding
// thread until the first push.
//
// A block operation takes 120 bytes, and must not take more: glibc frees what is larger under a lock
// that the adding thread needs too. A queue that is added to on one thread and works on another one
// then costs twice as much.
open class Operation: @unchecked Sendable {
  final let status = Atomic<OperationStatus>(OperationStatus())
  /// The queue that took it, once and for all. Valid until the operation is retired: its queue
  /// lives at least as long as it has operations that are not.
  final let queue = Atomic<Unmanaged<QueueCore>?>(nil)
  @exclusivity(unchecked) final var inboxNext: Unmanaged<Operation>?
  @exclusivity(unchecked) final var place = QueuePlace()
  final let lock = FutexLock()
  @exclusivity(unchecked) final var links = DependencyLinks()
  final let extra = Atomic<OperationExtra>(OperationExtra())

  /// Creates an operation that is ready, of normal priority, without dependencies.
  public init() {}

  deinit {
    if links.isEmpty, extra.load(ordering: .relaxed).isNothing { return }
    rare?.observations?.objectIsGone()
    releaseDependencies()
    ReleaseList.release(extra.load(ordering: .relaxed))
  }

  // MARK: Work

  /// Begins the work. Called by the queue on one of its threads, or by hand for an operation that
  /// is in no queue.
  ///
  /// Runs ``main()`` on the calling thread and returns when ``main()`` has returned. The operation has
  /// finished by then, unless an override of ``isFinished`` says that it has not: then it finishes when
  /// the subclass announces that. A cancelled operation finishes without running; on a finished one
  /// nothing happens. A subclass may override this, with or without a call of `super`.
  ///
  /// - Precondition: The operation is ready, does not execute, and is not in a queue.
  open func start() { performStart() }

  /// Does the work. The base class does nothing, and there is no need to call it.
  ///
  /// A subclass whose work goes on after this has returned overrides ``isFinished`` too.
  ///
  /// Runs on the thread that called ``start()``. It should look at ``isCancelled`` from time to
  /// time and return early.
  open func main() {}

  /// Asks the operation to stop: sets ``isCancelled``, and nothing else.
  ///
  /// What has not started will not run: it stops waiting for its dependencies, and its queue
  /// retires it as soon as a slot is free. What runs goes on until it looks at the flag. A finished
  /// operation, or a second call, changes nothing. Other operations are not cancelled; those that
  /// depend on this one may start once it has finished.
  ///
  /// Announces `isCancelled` and then, if the operation has not started, `isReady`, also if that was `true`.
  /// An override that keeps a flag of its own, announces it and does not call `super` ends the waiting for
  /// dependencies too. Its ``main()`` runs, and can clean up.
  open func cancel() { performCancel() }

  // MARK: State

  /// Whether cancellation was asked for before the operation finished. Never goes back.
  open var isCancelled: Bool { status.load(ordering: .acquiring).isCancelled }

  /// Whether the work is under way.
  ///
  /// `true` after ``main()`` too, while an override of ``isFinished`` says that the work goes on.
  open var isExecuting: Bool { answersAsExecuting }

  /// Whether the work has finished, done or cancelled. Never goes back.
  ///
  /// ``start()`` asks an override once, when ``main()`` has returned; that of the base class is then
  /// `true` for the override. If the answer is `false`, the operation finishes when the subclass
  /// announces that `isFinished` has become `true`.
  open var isFinished: Bool { answersAsFinished }

  /// Whether nothing holds up the start: every dependency has finished, or it was cancelled.
  ///
  /// Stays `true` while it executes and after. An override should combine `super.isReady` with its
  /// own condition and announce each change by `didChangeValue(forKey: "isReady")`.
  ///
  /// The library asks an override when the operation is added, when a change of it or of the dependencies is
  /// announced, when the last dependency finishes, and last when the operation is about to be started. When
  /// the last dependency finishes, a thread of the library asks. If an observer wants old or new values,
  /// the thread that finishes the last dependency asks too, perhaps under a lock of that dependency's
  /// subclass.
  open var isReady: Bool { status.load(ordering: .acquiring).isReady }

  /// Whether ``start()`` returns before the work is over; `false` by default.
  ///
  /// Queues ignore it: they call ``start()`` on a thread of their own in any case. If a subclass overrides
  /// only ``isConcurrent``, this is what that says.
  open var isAsynchronous: Bool { AsynchronyQuestion.answer(for: self) { isConcurrent } }

  /// The older name of ``isAsynchronous``. If a subclass overrides only the latter, this is what that says.
  open var isConcurrent: Bool { AsynchronyQuestion.answer(for: self) { isAsynchronous } }

  // MARK: Properties

  /// A name for people; `nil` by default. Shown by `opq-top`.
  ///
  /// An override is used by ``description``. Queues and `opq-top` use the name that was set.
  open var name: String? {
    get { givenName }
    set {
      if newValue == givenName { return }
      announce("name") { makeRare { $0.name = newValue } }
      noteDescriptionChanged()
    }
  }

  /// The place among the ready operations of a queue; `.normal` by default.
  ///
  /// Takes effect until the operation is started: it goes to the tail of its new level.
  ///
  /// The queue reads an override when the operation is added, on the adding thread, and when a change
  /// is announced by `didChangeValue(forKey: "queuePriority")`, on the announcing thread.
  open var queuePriority: QueuePriority {
    get { givenPriority }
    set {
      if newValue == givenPriority { return }
      announce("queuePriority") { givePriority(newValue) }
      noteDescriptionChanged()
    }
  }

  /// How important the work is; `.default` unless set. Advisory: see ``QualityOfService``.
  ///
  /// ``QualityOfService/current`` reads an override, on the thread of the work.
  open var qualityOfService: QualityOfService {
    get { givenQualityOfService }
    set {
      if newValue == givenQualityOfService { return }
      announce("qualityOfService") { makeRare { $0.qualityOfService = newValue } }
    }
  }

  /// How urgent the thread of ``main()`` is, from 0.0 to 1.0; 0.5 by default.
  ///
  /// A number outside is taken for the nearest one inside, and what is no number for the default.
  /// It may be set at any time.
  ///
  /// Stored and reported, and not applied to a thread: on Linux a thread without privileges may
  /// lower its own priority and cannot raise it again, and the threads of a queue go on to other
  /// operations. For the order in which a queue starts its operations see ``queuePriority``.
  ///
  /// Source: Apple, "NSOperation", `threadPriority`.
  open var threadPriority: Double {
    get { givenThreadPriority }
    set { giveThreadPriority(newValue) }
  }

  /// Runs once after the operation has finished or was cancelled, on an unspecified thread.
  ///
  /// Neither dependents nor waiters wait for it. It is released, and this property `nil`, when it
  /// begins. Setting it replaces what was set before; setting it on a finished operation does
  /// nothing, and is reported as a ``Diagnostic``.
  ///
  /// The library runs the block that was set and does not read an override.
  open var completionBlock: (@Sendable () -> Void)? {
    get { withRare { $0?.completionBlock } }
    set { giveCompletionBlock(newValue) }
  }

  // MARK: Dependencies

  /// The operations that this one waits for, in the order in which they were added.
  ///
  /// A copy. Operations stay in it when they finish, until they are removed, or until this operation
  /// has finished if it ``OperationSupplement/forgetsDependencies``.
  ///
  /// The library uses the dependencies that were added and does not read an override.
  open var dependencies: [Operation] { listedDependencies }

  /// Makes this operation wait until `operation` has finished, also by cancellation.
  ///
  /// Works across queues, and for operations in none. One that has finished already is listed and
  /// holds nothing up. Adding the same one again changes nothing. Once this operation executes, is
  /// cancelled or has finished, the dependency is listed and has no effect. Cycles are the
  /// caller's mistake: their members wait until one of them is cancelled.
  ///
  /// - Precondition: `operation` is another one.
  open func addDependency(_ operation: Operation) {
    depend(on: operation, requiresSuccess: false)
  }

  /// Takes back ``addDependency(_:)``: if nothing else holds this operation up, it is ready.
  ///
  /// If `operation` is no dependency, nothing happens.
  open func removeDependency(_ operation: Operation) { stopDepending(on: operation) }

  /// Blocks the calling thread until the operation has finished.
  ///
  /// On return its dependents have been released and it has left its queue. Returns at once if that
  /// has happened already, and inside an observer of this operation, which could only wait for
  /// itself. It may be in no queue and be started by another thread later.
  ///
  /// - Precondition: Not called from inside the operation itself, nor from inside an operation that it
  ///   has started on its thread, before it has finished. Not called on the main thread while it has yet
  ///   to be started by ``OperationQueue/main``. Each would wait for ever.
  @available(*, noasync, message: "Blocks a thread of the concurrency runtime")
  open func waitUntilFinished() { performWait() }

  // MARK: Announcing changes

  /// Announces that the value of `key` is about to change.
  ///
  /// Pair it with `didChangeValue(forKey:)` on the same thread. May be called while a lock of the
  /// subclass's is held, and from within other such pairs. Pairs match by key, with or without
  /// `is`; they may be nested in any way.
  open func willChangeValue(forKey key: String) { valueWillChange(forKey: key) }

  /// Announces that the value of `key` has changed.
  ///
  /// Observers are told, on this thread. For `isFinished`, `isExecuting`, `isCancelled` and
  /// `isReady` (or without the `is`), and for keys that these are said to depend on, the overridable
  /// property is read on this thread, and queue, dependents and waiters act on what it says,
  /// whether or not `willChangeValue(forKey:)` came before. Beside observers no user code runs on
  /// this thread in consequence. May be called while a lock of the subclass's is held, provided
  /// that its property can be read then.
  open func didChangeValue(forKey key: String) { valueDidChange(forKey: key) }

  /// The keys whose changes change `key` too, for subclasses that derive one property from another.
  ///
  /// With `"state"` returned for `isExecuting` and `isFinished`, announcing `state` announces both.
  /// Asked once for each class for the flags that queues act on, and again for the key of each
  /// observation that begins: it must always answer the same. Names with and without `is` are both
  /// asked for.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Whether changes announce themselves: never. As on Apple platforms for these keys.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }

  /// The value of a property by name, with or without `is`.
  ///
  /// - Parameter key: A property of this class; a subclass overrides this for its own keys.
  /// - Returns: The value, read by the overridable property; `nil` for one that is `nil`.
  /// - Precondition: There is a property of this name.
  open func value(forKey key: String) -> Any? { knownValue(forKey: key) }

  /// What the thread that has started the operation runs. Overridden by the classes of this module.
  ///
  /// - Returns: Whether the work is over by this. Where not, the class calls ``finishLater()`` once it is.
  func runBody() -> Bool {
    main()
    return true
  }

  /// Finishes what was cancelled before its start. Overridden by the classes of this module.
  ///
  /// - Returns: Whether it has finished by this, and the caller must call ``finishWasSet(discardsWork:)``.
  func finishUnrun() -> Bool { finishHere(wasExecuting: false) }

  /// Takes what the operation runs, when it will not run any more. Overridden by the classes of this
  /// module.
  ///
  /// - Parameter mayRunAgain: Whether the operation has run by hand. What can be run again by hand stays.
  /// - Returns: An object or a closure whose release may run the user's code; `nil` if there is nothing.
  func takeWork(mayRunAgain: Bool) -> Any? { nil }

  /// Whether the operation's work is released before those who wait for the operation go on. Overridden by
  /// the classes of this module.
  var releasesWorkFirst: Bool { false }

  /// Releases what will not run any more.
  final func discardWork() { withExtendedLifetime(takeWork(mayRunAgain: false)) {} }

  // MARK: Identity

  /// The class's name, the identifier and the name, for people.
  open var description: String {
    let title = name.map { " “\($0)”" } ?? ""
    return "<\(String(describing: type(of: self))) \(id)\(title)>"
  }

  /// As ``description``, with the state.
  open var debugDescription: String {
    "\(description) {\(state), cancelled: \(isCancelled), priority: \(queuePriority)}"
  }

  /// A number that is the same for equal operations.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether `object` is this very operation.
  open func isEqual(_ object: Any?) -> Bool { (object as? Operation) === self }
}

// MARK: - Conformances

/// Two operations are equal where ``isEqual(_:)`` says so: by default, where they are the same.
extension Operation: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether both are the same operation.
  public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }

  /// Feeds ``hash``.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
