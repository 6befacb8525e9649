// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation whose work is an asynchronous function.
///
/// Create it with a closure, or subclass it and override ``run()``. No other code is necessary:
///
/// ```swift
/// let fetch = AsyncOperation { try await download(address) }
/// queue.addOperation(fetch)
/// let page = try await fetch.value
/// ```
///
/// An asynchronous operation has all properties of an operation: it waits for its dependencies, its
/// queue starts it in the order of priorities, it can be observed and cancelled, and other
/// operations can depend on it. While its work awaits something, it holds its slot of the queue but
/// no thread. A queue of width 8 executes at most 8 asynchronous operations at once, however long
/// each one waits, and a thousand waiting operations need as few threads as one.
///
/// ## How it works
///
/// An operation is asynchronous if its `start()` returns before the work has ended and the end is
/// announced later: `isExecuting` becomes `false` and `isFinished` becomes `true`. The `start()` of
/// this class announces that the operation executes, creates a `Task` that calls ``run()``, and
/// returns. The queue's thread continues with the next operation. After ``run()`` has returned or
/// thrown, the task stores the result, calls ``willFinish(_:)`` and announces the end. No
/// announcement depends on the thread or the actor of the work. Both announcements are made by
/// synchronous code, the first one in `start()` and the second one at the end of the task. One
/// atomic word decides what each of them may do. This guarantees three properties that are
/// difficult to achieve in a class of your own:
///
/// - It finishes exactly once, whatever events race. Only the thread that has claimed the start
///   creates a task, and only the end of that task finishes the operation. ``cancel()`` never
///   finishes it.
/// - A cancellation is never lost. ``cancel()`` sets the flag and then searches for the task. The
///   task begins the work only when it can be found, and checks the flag first. So `cancel()` finds
///   the task, or the task sees the flag.
/// - It creates no retain cycle. The task retains the operation, and the operation its task, until
///   the work has ended. The closure is released before threads and tasks that wait for the
///   operation continue.
///
/// ## Cancellation
///
/// ``cancel()`` also cancels the task, so that awaited calls can end early and `Task.isCancelled`
/// is `true`. The work decides how to react: usually it throws `CancellationError`. If it returns
/// normally, its value is the result. The operation finishes when the work has ended, and not
/// earlier. Work that was cancelled before the operation started does not run.
///
/// ## Where it runs
///
/// The work runs on the threads of Swift's concurrency runtime, or on the actor of an override of
/// ``run()``. As in any task, it must not block its thread. ``OperationQueue/current`` and
/// ``QualityOfService/current`` apply to threads of queues and are not set inside the work. Capture
/// the queue if the work needs it. Observers are notified of the beginning of the execution on the
/// thread that calls `start()`. They are notified of its end, and of the finish, on the thread on
/// which the task ends. Task-local values are those of the caller of a direct `start()`. If a queue
/// starts the operation, no task-local values are set.
///
/// The priority of the task is fixed at the start. It follows from the operation's
/// ``Operation/qualityOfService``, or else from its queue's: user-interactive and user-initiated
/// are `high`, utility is `low`, background is `background`. If neither is set,
/// ``Operation/queuePriority`` decides: `high` and `veryHigh` are `high`, `low` is `low`, `veryLow`
/// is `background`, and `normal` is `medium`, or the priority of the task that calls `start()`
/// directly.
// Unchecked `Sendable` conformance for the reason given at `Operation`. The operation's lock guards
// `work`.
open class AsyncOperation<Output: Sendable>: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var work: AsyncWork<Output>

  /// Creates an operation of a subclass that overrides ``run()``.
  public override init() {
    work = AsyncWork(body: nil)
    super.init()
  }

  /// Creates an operation that calls `body`.
  ///
  /// - Parameter body: Called at most once. It is released before threads and tasks that wait for
  ///   the operation continue, even if it was not called because the operation was cancelled.
  public init(_ body: @escaping @Sendable () async throws -> Output) {
    work = AsyncWork(body: body)
    super.init()
  }

  /// Releases the closure before the list of dependencies. Without this call, the closure would be
  /// released after the list, because Swift releases the stored properties of a subclass after
  /// those of its superclass. A closure often captures operations that its operation depends on. If
  /// the closure had the last references to these operations, its release would release a chain of
  /// operations recursively. With this order, the list of dependencies has the last references, and
  /// is released without recursion.
  deinit { discardWork() }

  // MARK: Work

  /// Does the work. Subclasses override this method and need not call `super`.
  ///
  /// Called once, in a new task, unless the operation was cancelled before it started. The
  /// operation executes until this method has returned or thrown. The returned value or the error
  /// is its ``AsyncOperationSupplement/result``. If the operation is cancelled, the task is
  /// cancelled too.
  ///
  /// The base class calls the closure that the operation was created with.
  ///
  /// - Throws: The error of the work. The operation finishes nevertheless.
  /// - Precondition: The operation has a closure, which has not run.
  open func run() async throws -> Output {
    guard let body = withWork({ $0.beginBody() }) else { throw refuseToRun() }
    return try await body()
  }

  /// Called after the work has ended and before the operation finishes, for actions that must
  /// precede observers, dependents and waiters. Does nothing by default, so an override need not
  /// call `super`.
  ///
  /// Called once, in the task that has called ``run()``, which may be cancelled by now. The
  /// operation executes and holds its slot until this method returns. This method is not called if
  /// the operation was cancelled before it started: there was no work, and a cancelled operation
  /// leaves its queue at once.
  ///
  /// - Parameter result: The future ``AsyncOperationSupplement/result``.
  open func willFinish(_ result: Result<Output, any Error>) async {}

  // MARK: Lifecycle

  /// Begins the work and returns. The rules of ``Operation/start()`` apply.
  public final override func start() { super.start() }

  /// Does nothing. An asynchronous operation does its work in ``run()``.
  public final override func main() {}

  /// Asks the operation to stop. The rules of ``Operation/cancel()`` apply. If the operation
  /// executes, its task is also cancelled before this method returns.
  ///
  /// The handlers that the work has registered by `withTaskCancellationHandler` are then called on
  /// this thread. An override must call `super`.
  open override func cancel() {
    super.cancel()
    if isCancelled { cancelTask() }
  }

  /// Whether ``start()`` returns before the work has ended. The value is always `true`.
  public final override var isAsynchronous: Bool { true }

  /// The older name of `isAsynchronous`; see ``Operation/isConcurrent``.
  public final override var isConcurrent: Bool { true }

  /// Whether the operation was cancelled before it finished; see ``Operation/isCancelled``.
  public final override var isCancelled: Bool { super.isCancelled }

  /// Whether the operation executes; see ``Operation/isExecuting``.
  public final override var isExecuting: Bool { super.isExecuting }

  /// Whether the operation has finished; see ``Operation/isFinished``.
  public final override var isFinished: Bool { super.isFinished }

  /// Whether the operation can start; see ``Operation/isReady``. Express further conditions as
  /// dependencies.
  public final override var isReady: Bool { super.isReady }

  // MARK: Inside

  /// The result of the finished operation.
  ///
  /// - Precondition: The operation has finished.
  final var finalResult: Result<Output, any Error> {
    guard let result = finalResultSoFar else {
      preconditionFailure("The operation has finished without a result")
    }
    return result
  }

  /// The same value as ``AsyncOperationSupplement/result``. A subclass may hide that property, but
  /// not this one.
  final var finalResultSoFar: Result<Output, any Error>? {
    guard status.load(ordering: .acquiring).isFinished else { return nil }
    return withWork { $0.outcome } ?? .failure(error ?? CancellationError())
  }

  override func runBody() -> Bool {
    // If the operation has no closure, `start()` reports the mistake, so that the caller of
    // `start()` can catch it. If the operation is of a subclass that has no work, only `run()` can
    // detect the mistake.
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

  final override var knownStart: Int64? { withWork { $0.started } }

  private final func cancelTask() { withWork { $0.task }?.cancel() }

  /// Whether the operation releases its work before threads and tasks that wait for the operation
  /// continue. The value is always `true`, because an asynchronous operation releases its closure
  /// at that time.
  final override var releasesWorkFirst: Bool { true }

  final override func takeWork(mayRunAgain: Bool) -> Any? { withWork { $0.takeBody() } }

  private final func runToEnd() async {
    await waitUntilTaskIsKnown()
    // `cancel()` on another thread may have set the cancelled flag before it could find the task.
    // In that case the task cancels itself.
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let outcome = await runKeepingError()
    await willFinish(outcome)
    withWork { $0.end(outcome) }
    if finish(wasExecuting: true) { finishWasSet() }
  }

  /// Waits until the thread that created the task has stored the task. `cancel()` can find only a
  /// stored task, so the work must not begin earlier. No thread blocks here: the task is suspended,
  /// and the thread that creates it resumes it.
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

/// The members of ``AsyncOperation`` that a subclass may redeclare, like those of
/// ``OperationSupplement``.
///
/// Only ``AsyncOperation`` conforms to this protocol.
public protocol AsyncOperationSupplement: OperationSupplement {
  /// The type of the operation's result.
  associatedtype Output: Sendable
}

extension AsyncOperation: AsyncOperationSupplement {}

extension AsyncOperationSupplement {
  /// The returned value or the error of ``AsyncOperation/run()``; `nil` until the operation has
  /// finished.
  ///
  /// If the operation was cancelled before it started, or has thrown `CancellationError` because it
  /// was cancelled, the result is the reason that was passed to `cancel(with:)`, or
  /// `CancellationError` if there was none. This property can be read on any thread.
  ///
  /// An error of ``AsyncOperation/run()`` is also the operation's `error`. An operation that was
  /// cancelled without a reason has no `error`.
  public var result: Result<Output, any Error>? {
    operation.finalResultSoFar
  }

  /// The value that ``AsyncOperation/run()`` has returned, after the operation has finished.
  ///
  /// Any number of tasks can wait for the value. Cancelling a waiting task ends its wait and does
  /// not affect the operation. The wait for an operation that is never started does not end, even
  /// if the operation is cancelled. The same is true for an operation that waits for itself in its
  /// own work.
  ///
  /// - Throws: The error in ``result``. Also `CancellationError`, if the waiting task was cancelled
  ///   before the operation had finished.
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
