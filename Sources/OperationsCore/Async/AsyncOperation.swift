// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation whose work is an asynchronous function.
///
/// Give it a closure, or subclass it and override ``run()``; there is nothing else to write:
///
/// ```swift
/// let fetch = AsyncOperation { try await download(address) }
/// queue.addOperation(fetch)
/// let page = try await fetch.value
/// ```
///
/// It is an operation like any other: it waits for its dependencies, is started by its queue in the
/// order of priorities, can be observed and cancelled, and others may depend on it. While its work
/// awaits something it holds its slot of the queue and no thread: a queue of width 8 has at most 8 of
/// them under way, however long each one waits, and a thousand that wait need no more threads than one.
///
/// ## How it works
///
/// An operation is asynchronous if its `start()` returns before the work is over and the end is
/// announced later, by `isExecuting` becoming `false` and `isFinished` `true`. `start()` of this class
/// announces that it executes, makes a `Task` that calls ``run()``, and returns; the queue's thread goes
/// on to the next operation. When ``run()`` has returned or thrown, the task keeps the result, calls
/// ``willFinish(_:)`` and announces the end. No announcement depends on the thread or the actor of
/// the work: both are made by plain synchronous code, the first in `start()`, the last at the end of
/// the task, and one atomic word decides what each of them may do. That makes three things true that are
/// easily lost when such a class is written by hand:
///
/// - It finishes exactly once, whatever races with what. Only who has claimed the start makes a task, and
///   only the end of that task finishes the operation, ``cancel()`` never does.
/// - A cancellation is never lost. ``cancel()`` sets the flag and then looks for the task. The task begins the
///   work when it can be found, and looks at the flag first. At least one of them sees the other.
/// - Nothing holds itself. The task holds the operation, and the operation its task, until the work is
///   over; the closure is released before those who wait for the operation go on.
///
/// ## Cancellation
///
/// ``cancel()`` cancels the task too, so that what it awaits may end early and `Task.isCancelled` says so.
/// What becomes of it is up to the work: usually it throws `CancellationError`, and if it returns all the
/// same, that is the result. The operation finishes when the work is over and no earlier. Work that was
/// cancelled before the operation started does not run.
///
/// ## Where it runs
///
/// On the threads that Swift has for tasks, or on the actor to which an override of ``run()`` is bound.
/// As in any task the work must not block its thread. ``OperationQueue/current`` and
/// ``QualityOfService/current`` are about threads of queues, and say nothing inside it; who needs the
/// queue there captures it. Observers are told that it executes on the thread that calls `start()`, and
/// that it does not any more and has finished on the thread on which the task ends. Task-local values are
/// those of whoever called `start()` by hand; started by a queue there are none.
///
/// The task's priority is fixed at the start. It is what the operation's ``Operation/qualityOfService``
/// says, or else its queue's: user-interactive and user-initiated are `high`, utility is `low`,
/// background is `background`. Where neither states one, ``Operation/queuePriority`` counts: `high` and
/// `veryHigh` are `high`, `low` is `low`, `veryLow` is `background`, and `normal` is `medium`, or the
/// priority of the task that calls `start()` by hand.
// Unchecked for the reason given at `Operation`; `work` is guarded by its lock.
open class AsyncOperation<Output: Sendable>: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var work: AsyncWork<Output>

  /// Creates an operation of a subclass that overrides ``run()``.
  public override init() {
    work = AsyncWork(body: nil)
    super.init()
  }

  /// Creates an operation that calls `body`.
  ///
  /// - Parameter body: Called once at most, and released before those who wait for the operation go on,
  ///   whether it was called or, because the operation was cancelled, was not.
  public init(_ body: @escaping @Sendable () async throws -> Output) {
    work = AsyncWork(body: body)
    super.init()
  }

  /// Before the dependencies go, and not after them, as stored properties do: a closure often captures
  /// what its operation depends on. With the last reference to that it would release a chain of
  /// operations one inside the other; as it is, the list of dependencies has the last one.
  deinit { discardWork() }

  // MARK: Work

  /// Does the work. Overridden by subclasses, which need not call `super`.
  ///
  /// Called once, in a task of its own, unless the operation was cancelled before it started. The
  /// operation executes until this has returned or thrown; either is its
  /// ``AsyncOperationSupplement/result``. When the operation is cancelled, so is the task.
  ///
  /// The base class calls the closure that the operation was created with.
  ///
  /// - Throws: Whatever the work fails with. The operation finishes all the same.
  /// - Precondition: There is a closure, and it has not run.
  open func run() async throws -> Output {
    guard let body = withWork({ $0.beginBody() }) else { throw refuseToRun() }
    return try await body()
  }

  /// Called when the work is over and before anybody can see that: for what has to be done before
  /// observers, dependents and waiters go on. Does nothing by default, and there is no need to call it.
  ///
  /// Called once, in the task that has called ``run()``, which may be cancelled by now. The operation
  /// goes on executing, and holding its slot, until this returns. Not called where the operation was
  /// cancelled before it started: there was no work, and what is cancelled leaves its queue at once.
  ///
  /// - Parameter result: What ``AsyncOperationSupplement/result`` will be.
  open func willFinish(_ result: Result<Output, any Error>) async {}

  // MARK: Lifecycle

  /// Begins the work and returns: see ``Operation/start()``, whose rules hold.
  public final override func start() { super.start() }

  /// Does nothing: the work is ``run()``.
  public final override func main() {}

  /// Asks the operation to stop: see ``Operation/cancel()``, whose rules hold. If it executes, its task is
  /// cancelled too, before this returns.
  ///
  /// What the work has registered by `withTaskCancellationHandler` is then called on this thread. An
  /// override must call `super`.
  open override func cancel() {
    super.cancel()
    if isCancelled { cancelTask() }
  }

  /// `true`: ``start()`` returns before the work is over.
  public final override var isAsynchronous: Bool { true }

  /// See ``Operation/isConcurrent``.
  public final override var isConcurrent: Bool { true }

  /// See ``Operation/isCancelled``.
  public final override var isCancelled: Bool { super.isCancelled }

  /// See ``Operation/isExecuting``.
  public final override var isExecuting: Bool { super.isExecuting }

  /// See ``Operation/isFinished``.
  public final override var isFinished: Bool { super.isFinished }

  /// See ``Operation/isReady``. What holds it up beside its dependencies is best made one of these.
  public final override var isReady: Bool { super.isReady }

  // MARK: Inside

  /// - Precondition: It has finished.
  final var finalResult: Result<Output, any Error> {
    guard let result = finalResultSoFar else {
      preconditionFailure("The operation has finished without a result")
    }
    return result
  }

  /// ``AsyncOperationSupplement/result``, which a subclass may hide.
  final var finalResultSoFar: Result<Output, any Error>? {
    guard status.load(ordering: .acquiring).isFinished else { return nil }
    return withWork { $0.outcome } ?? .failure(error ?? CancellationError())
  }

  override func runBody() -> Bool {
    // Here, where whoever calls `start()` can catch the mistake. Whether a subclass has something to run
    // shows only in `run()`.
    if type(of: self) == AsyncOperation.self, !withWork({ $0.hasBody }) {
      let misuse = refuseToRun()
      keepError(misuse)
      withWork { $0.end(.failure(misuse)) }
      return true
    }
    ForkedProcess.check("to start an asynchronous operation")
    let priority = TaskPriority(QualityOfService.current, queuePriority)
    let task = Task(name: name, priority: priority) { await runToEnd() }
    withWork { $0.taskWasMade(task) }?.resume()
    return false
  }

  private final func cancelTask() { withWork { $0.task }?.cancel() }

  /// As documented at `init`.
  final override var releasesWorkFirst: Bool { true }

  final override func takeWork(mayRunAgain: Bool) -> Any? { withWork { $0.takeBody() } }

  private final func runToEnd() async {
    await waitUntilTaskIsKnown()
    // A thread that set the flag before it could find the task is seen here.
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let outcome = await runKeepingError()
    await willFinish(outcome)
    withWork { $0.end(outcome) }
    finishLater()
  }

  /// The thread that makes the task is about to say which one it is. Until then `cancel()` could not find
  /// it: so the work does not begin before. No thread waits for another one here: the task is suspended,
  /// and the thread that makes it resumes it.
  private final func waitUntilTaskIsKnown() async {
    if withWork({ $0.task }) != nil { return }
    await withUnsafeContinuation { beginning in
      if withWork({ $0.waitsForTask(beginning) }) { beginning.resume() }
    }
  }

  private final func runKeepingError() async -> Result<Output, any Error> {
    do {
      return .success(try await run())
    } catch let error as CancellationError where isCancelled {
      return .failure(self.error ?? error)
    } catch {
      keepError(error)
      return .failure(error)
    }
  }

  private final func refuseToRun() -> Misuse {
    let misuse = Misuse(
      kind: .nothingToRun,
      description:
        "-[AsyncOperation run]: \(description) has nothing to run: it was created without a "
        + "closure and does not override run(), or has run already")
    Misuse.raise(misuse.kind, misuse.description)
    return misuse
  }

  private final func withWork<Value>(_ body: (inout AsyncWork<Output>) -> Value) -> Value {
    lock.lock()
    defer { lock.unlock() }
    return body(&work)
  }
}

/// The members of ``AsyncOperation`` that a subclass may declare for itself, as those of
/// ``OperationSupplement``.
///
/// Only ``AsyncOperation`` conforms.
public protocol AsyncOperationSupplement: OperationSupplement {
  /// What the operation returns.
  associatedtype Output: Sendable
}

extension AsyncOperation: AsyncOperationSupplement {}

extension AsyncOperationSupplement {
  /// What ``AsyncOperation/run()`` returned or threw; `nil` until the operation has finished.
  ///
  /// Where the operation was cancelled before it started, or has thrown `CancellationError` because it was
  /// cancelled, it is the reason that was given to `cancel(because:)`, or `CancellationError` if none was.
  /// May be asked for on any thread, as often as wanted.
  ///
  /// What ``AsyncOperation/run()`` threw is the operation's `error` too. A cancelled operation without a
  /// reason has none.
  public var result: Result<Output, any Error>? {
    operation.finalResultSoFar
  }

  /// What ``AsyncOperation/run()`` returned, as soon as the operation has finished.
  ///
  /// Any number of tasks may wait for it. Cancelling a task that waits ends its wait and does not touch
  /// the operation. An operation that nobody ever starts is waited for until then, be it cancelled; and so
  /// is, inside its own work, the operation itself.
  ///
  /// - Throws: What ``result`` says; `CancellationError`, too, if the waiting task was cancelled before
  ///   the operation had finished.
  public var value: Output {
    get async throws {
      let operation = operation
      guard await operation.finished() else { throw CancellationError() }
      return try operation.finalResult.get()
    }
  }

  private var operation: AsyncOperation<Output> {
    guard let operation = self as? AsyncOperation<Output> else {
      preconditionFailure("Only AsyncOperation conforms to AsyncOperationSupplement")
    }
    return operation
  }
}
