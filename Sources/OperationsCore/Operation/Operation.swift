// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// One unit of work: code and data that run once, directly or on an ``OperationQueue``.
///
/// Override ``main()`` for synchronous work. For asynchronous work, override ``start()``, ``isAsynchronous``,
/// ``isExecuting`` and ``isFinished``, and announce each change of ``isExecuting`` and ``isFinished`` by
/// `willChangeValue(forKey:)` and `didChangeValue(forKey:)`. The queue follows the operation's progress only
/// by these announcements.
///
/// Every member can be used on any thread. The library calls no code of a subclass (override,
/// block, `deinit`) while it holds one of its locks.
///
/// Source: Apple, "NSOperation Class Reference".
// Unchecked `Sendable` conformance, because the compiler cannot check an open class. The property `status` is
// atomic. `links` and the contents of `extra` are guarded by `lock`, except for the parts that the finishing
// thread removes (`takeDependents`). `inboxNext` belongs to the thread that has claimed the push. `place` and
// `neighbours` are guarded by the queue's lock, and belong to the adding thread until the first push.
//
// A block operation takes 120 bytes and must not take more: glibc frees larger blocks of memory under a lock
// that the adding thread needs too. This would double the time of a queue if one thread adds operations and
// another executes them.
open class Operation: @unchecked Sendable {
  // The properties that change while dependencies are added and finish are in the first 64 bytes of the object.
  final let lock = BriefLock()
  @exclusivity(unchecked) final var place = QueuePlace()
  final let status = Atomic<OperationStatus>(OperationStatus())
  @exclusivity(unchecked) final var links = DependencyLinks()
  final let extra = Atomic<OperationExtra>(OperationExtra())
  /// The queue that the operation was added to, which never changes. The reference is valid until
  /// the operation is retired (has left its queue), because a queue lives at least as long as it
  /// has operations that are not retired.
  final let queue = Atomic<Unmanaged<QueueCore>?>(nil)
  @exclusivity(unchecked) final var inboxNext: Unmanaged<Operation>?
  @exclusivity(unchecked) final var neighbours = QueueNeighbours()

  /// Creates a ready operation with normal priority and no dependencies.
  ///
  /// If this package's telemetry propagates contexts, the operation stores the service context of the calling
  /// code; see <doc:MetricsAndTraces>.
  public init() { if OperationContextHook.isInstalled { captureContext() } }

  deinit {
    if links.isEmpty, extra.load(ordering: .relaxed).isNothing { return }
    rare?.observations?.objectIsGone()
    releaseDependencies()
    ReleaseList.release(extra.load(ordering: .relaxed))
  }

  // MARK: Work

  /// Begins the work. The queue calls it on one of its threads. If an operation is not in a queue, you can
  /// call this method directly.
  ///
  /// The method runs ``main()`` on the calling thread and returns when ``main()`` has returned. The operation
  /// has finished by then, unless an override of ``isFinished`` is `false`. In that case, the operation
  /// finishes when the subclass announces the finish. A cancelled operation finishes without running. On a
  /// finished operation, the method has no effect. A subclass can override this method, with or without a
  /// call of `super`.
  ///
  /// - Precondition: The operation is ready, does not execute, and is not in a queue.
  open func start() {
    // A worker does not call `start()` for an operation whose class is exactly `BlockOperation`. So
    // if the operation has this class, the program has called `start()`.
    if run(isByHand: isExactlyBlockOperation) { finishWasSet() }
  }

  /// Does the work. The base class does nothing, so an override need not call `super`.
  ///
  /// A subclass whose work continues after this method has returned overrides ``isFinished`` too.
  ///
  /// This method runs on the thread that called ``start()``. An override should check ``isCancelled`` from
  /// time to time, and return early if it is `true`.
  open func main() {}

  /// Asks the operation to stop: sets ``isCancelled``, and has no other effect.
  ///
  /// If the operation has not started, it will not run. It stops waiting for its dependencies, and its queue
  /// finishes it as soon as a slot is free. An executing operation continues until it checks the flag. On a
  /// finished operation, or in a second call, nothing changes. Other operations are not cancelled. Dependents
  /// of this operation can start when it has finished.
  ///
  /// The method announces `isCancelled` and then, if the operation has not started, `isReady`, even if
  /// `isReady` was `true` before. An override that sets its own flag, announces it and does not call `super`
  /// ends the wait for dependencies too. After such an override, ``main()`` runs and can clean up.
  open func cancel() { performCancel() }

  // MARK: State

  /// Whether the operation was cancelled before it finished. The value never becomes `false` again.
  open var isCancelled: Bool { status.load(ordering: .acquiring).isCancelled }

  /// Whether the operation executes.
  ///
  /// This property is also `true` after ``main()`` has returned, while an override of ``isFinished`` is
  /// `false`.
  open var isExecuting: Bool { answersAsExecuting }

  /// Whether the operation has finished, after its work or by cancellation. The value never becomes `false`
  /// again.
  ///
  /// ``start()`` reads an override once, after ``main()`` has returned. During this read, `super.isFinished`
  /// is `true`. If the override returns `false`, the operation finishes when the subclass announces that
  /// `isFinished` has become `true`.
  open var isFinished: Bool { answersAsFinished }

  /// Whether the operation can start, because every dependency has finished or because the operation was
  /// cancelled.
  ///
  /// The value stays `true` during and after the execution. An override should combine `super.isReady` with
  /// its own condition, and announce each change by `didChangeValue(forKey: "isReady")`.
  ///
  /// The library reads an override when the operation is added, when a change of it or of the
  /// dependencies is announced, when the last dependency finishes, and last when the operation is
  /// about to be started. When the last dependency finishes, a thread of the library reads it. If
  /// an observer requests old or new values, the thread that finishes the last dependency reads it
  /// too, possibly under a lock of that dependency's subclass.
  open var isReady: Bool { status.load(ordering: .acquiring).isReady }

  /// Whether ``start()`` returns before the work has ended; `false` by default.
  ///
  /// Queues ignore this property, because they always call ``start()`` on one of their own threads. If a
  /// subclass overrides only ``isConcurrent``, this property has the same value.
  open var isAsynchronous: Bool { AsynchronyQuestion.answer(for: self) { isConcurrent } }

  /// The older name of ``isAsynchronous``. If a subclass overrides only ``isAsynchronous``, this property has
  /// the same value.
  open var isConcurrent: Bool { AsynchronyQuestion.answer(for: self) { isAsynchronous } }

  // MARK: Properties

  /// A name for display; `nil` by default. `opq-top` shows it.
  ///
  /// If a subclass overrides this property, only ``description`` uses the override. Queues and `opq-top` use
  /// the name that was set.
  open var name: String? {
    get { givenName }
    set {
      if newValue == givenName { return }
      announce("name") { makeRare { $0.name = newValue } }
      noteDescriptionChanged()
    }
  }

  /// The priority among the ready operations of a queue; `.normal` by default.
  ///
  /// A change has an effect until the operation is started. The operation then moves to the end of its new
  /// priority level.
  ///
  /// The queue reads an override when the operation is added, on the adding thread, and when a
  /// change is announced by `didChangeValue(forKey: "queuePriority")`, on the announcing thread.
  open var queuePriority: QueuePriority {
    get { givenPriority }
    set {
      if newValue == givenPriority { return }
      announce("queuePriority") { givePriority(newValue) }
      noteDescriptionChanged()
    }
  }

  /// The importance of the work; `.default` unless set. The value is advisory; see ``QualityOfService``.
  ///
  /// ``QualityOfService/current`` reads an override on the thread of the work.
  open var qualityOfService: QualityOfService {
    get { givenQualityOfService }
    set {
      if newValue == givenQualityOfService { return }
      announce("qualityOfService") { makeRare { $0.qualityOfService = newValue } }
      noteDescriptionChanged()
    }
  }

  /// The priority of the thread of ``main()``, from 0.0 to 1.0; 0.5 by default.
  ///
  /// A number outside this range is clamped to it, and NaN becomes the default. It can be set at
  /// any time.
  ///
  /// The value is stored and reported, but not applied to a thread: on Linux a thread without
  /// privileges can lower its own priority but not raise it again, and the threads of a queue
  /// continue with other operations. For the order in which a queue starts its operations, see
  /// ``queuePriority``.
  ///
  /// Source: Apple, "NSOperation", `threadPriority`.
  open var threadPriority: Double {
    get { givenThreadPriority }
    set { giveThreadPriority(newValue) }
  }

  /// A block that runs once after the operation has finished or was cancelled, on an unspecified
  /// thread.
  ///
  /// Dependents, and threads that wait for the operation, do not wait for the block. When the block begins,
  /// this property becomes `nil`. Setting this property replaces the earlier block. Setting it on a finished
  /// operation has no effect, and is reported as an ``OperationDiagnostic``.
  ///
  /// The library runs the block that was set and does not read an override.
  open var completionBlock: (@Sendable () -> Void)? {
    get { withRare { $0?.completionBlock } }
    set { giveCompletionBlock(newValue) }
  }

  // MARK: Dependencies

  /// The dependencies of this operation, in the order in which they were added.
  ///
  /// The array is a copy. Finished dependencies stay in the list until they are removed. If
  /// ``OperationSupplement/releasesDependenciesWhenFinished`` is `true`, they stay until this operation has finished.
  ///
  /// The library uses the dependencies that were added and does not read an override.
  open var dependencies: [Operation] { listedDependencies }

  /// Makes this operation wait until `operation` has finished. A cancelled operation finishes too.
  ///
  /// The operations can be in different queues or in none. An operation that has already finished is listed,
  /// but does not delay this operation. Adding the same operation again has no effect. If this operation
  /// executes, is cancelled or has finished, the dependency is listed but has no effect. The caller must not
  /// create cycles, because the members of a cycle wait until one of them is cancelled.
  ///
  /// - Precondition: `operation` is not this operation.
  open func addDependency(_ operation: Operation) {
    depend(on: operation, requiresSuccess: false)
  }

  /// Removes a dependency. If nothing else keeps this operation waiting, the operation becomes ready.
  ///
  /// If `operation` is not a dependency, nothing happens.
  open func removeDependency(_ operation: Operation) { stopDepending(on: operation) }

  /// Blocks the calling thread until the operation has finished.
  ///
  /// When the method returns, the operation's dependents have been released and it has left its queue. The
  /// method returns immediately if this has already happened. It also returns immediately inside an observer
  /// of this operation, because the observer would wait for itself. The operation may be outside any queue
  /// and be started later by another thread.
  ///
  /// - Precondition: The caller is not inside the operation itself, and not inside an operation that it has
  ///   started on its thread. The caller is not on the main thread if ``OperationQueue/main`` has not started
  ///   the operation yet. Each of these calls would never return.
  @available(
    *, noasync,
    message: "Blocks a thread. In an asynchronous function, call `await waitUntilFinished()`"
  )
  open func waitUntilFinished() { performWait() }

  // MARK: Announcing changes

  /// Announces that the value of `key` is about to change.
  ///
  /// Pair each call with a call of `didChangeValue(forKey:)` on the same thread. This method can be called
  /// while a lock of the subclass is held, and inside other such pairs. Pairs match by key, with or without
  /// `is`, and can be nested in any way.
  open func willChangeValue(forKey key: String) { valueWillChange(forKey: key) }

  /// Announces that the value of `key` has changed.
  ///
  /// Observers are notified on this thread. For `isFinished`, `isExecuting`, `isCancelled` and `isReady` (or
  /// without the `is`), and for keys that are declared as affecting these, the overridable property is read
  /// on this thread, and queue, dependents and waiters act on its value, whether or not
  /// `willChangeValue(forKey:)` was called before. Apart from observers, this call runs no user code on this
  /// thread. It can be called while a lock of the subclass is held, if the property can be read then.
  open func didChangeValue(forKey key: String) { valueDidChange(forKey: key) }

  /// Returns the keys whose changes also change `key`, for subclasses that derive one property from
  /// another.
  ///
  /// If `"state"` is returned for `isExecuting` and `isFinished`, announcing `state` announces both. The
  /// method is called once per class for the flags that queues use, and again for the key of each new
  /// observation, so it must always return the same value. Keys are passed with and without `is`.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Whether changes are announced automatically: always `false`, as on Apple platforms for these
  /// keys.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }

  /// Returns the value of a property by its name, with or without `is`.
  ///
  /// - Parameter key: A property of this class. A subclass overrides this method for its own keys.
  /// - Returns: The value of the overridable property, which may be `nil`.
  /// - Precondition: The class has a property with this name.
  open func value(forKey key: String) -> Any? { knownValue(forKey: key) }

  /// Runs the work on the thread that has started the operation. Subclasses in this module override
  /// this method.
  ///
  /// - Returns: Whether the work has ended. If it has not ended, the subclass calls
  ///   ``finish(wasExecuting:)`` at its end.
  func runBody() -> Bool {
    main()
    return true
  }

  /// Finishes an operation that was cancelled before its start. Subclasses in this module override
  /// this method.
  ///
  /// - Returns: Whether this call has finished the operation. If it has, the caller must call
  ///   ``finishWasSet(discardsWork:)``.
  func finishUnrun() -> Bool { finish(wasExecuting: false) }

  /// Removes and returns the work of the operation when the work will no longer run. Subclasses in
  /// this module override this method.
  ///
  /// - Parameter mayRunAgain: Whether the program started the operation directly. In that case, the
  ///   operation keeps work that can be run again.
  /// - Returns: An object or a closure whose release may run the user's code; `nil` if there is
  ///   nothing to release.
  func takeWork(mayRunAgain: Bool) -> Any? { nil }

  /// Whether the operation's work is released before threads that wait for the operation continue.
  /// Subclasses in this module override this property.
  var releasesWorkFirst: Bool { false }

  /// The log of the attempts of a `RetryOperation`; `nil` for other operations. It can be read under
  /// the queue's lock.
  var attemptLog: AttemptLog? { nil }

  /// The queue of the members of a `GroupOperation`; `nil` for other operations.
  var memberQueue: QueueID? { nil }

  /// The time at which the operation was started, on the monotonic clock in nanoseconds; `nil` if
  /// it is not known. It can be read under the queue's lock.
  var knownStart: Int64? { nil }

  /// Whether the calling task is the task of this operation, and not a child of it.
  var isInOwnTask: Bool { false }

  /// The operations that this operation runs and waits for, without its dependencies.
  var innerOperations: [Operation] { [] }

  /// Whether the operation has a task, whose priority is lower than `priority`.
  func raisesTask(to priority: TaskPriority) -> Bool { false }

  /// Raises the priority of the operation's task, if it has one.
  func escalateTask(to priority: TaskPriority) {}

  /// Releases the block or closure of the operation, which will no longer run.
  final func discardWork() { withExtendedLifetime(takeWork(mayRunAgain: false)) {} }

  // MARK: Identity

  /// The name of the class, the operation's number and its name, for display.
  open var description: String {
    let title = name.map { " “\($0)”" } ?? ""
    return "<\(String(describing: type(of: self))) \(id)\(title)>"
  }

  /// The ``description``, followed by the operation's state.
  open var debugDescription: String {
    "\(description) {\(state), cancelled: \(isCancelled), priority: \(queuePriority)}"
  }

  /// A number that is the same for equal operations.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Returns whether `object` is the same operation.
  open func isEqual(_ object: Any?) -> Bool { (object as? Operation) === self }
}

// MARK: - Conformances

/// Two operations are equal if ``isEqual(_:)`` returns `true`; by default, if they are the same
/// object.
extension Operation: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Returns whether both operations are equal.
  public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }

  /// Feeds ``hash`` into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
