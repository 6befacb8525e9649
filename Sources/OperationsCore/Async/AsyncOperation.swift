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
/// returns. The queue's thread then runs the task until it is suspended or ends, and continues with the
/// next operation. After ``run()`` has returned or
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
/// The work runs on the threads of the operation's queue, or on the actor of an override of ``run()``. So
/// the work may block its thread: a queue of width 4 executes four blocking functions at once. After the
/// work has been suspended, it may continue on another thread of the queue. It continues even if the queue
/// is suspended or has the width 0. If the queue has an ``OperationQueue/underlyingQueue``, the work runs
/// there. An operation that is started directly runs on the threads of the queue whose work has started
/// it. If no queue has, it runs on the threads of Swift's concurrency runtime and must not block them.
///
/// ``OperationSupplement/current``, ``OperationQueue/current`` and ``QualityOfService/current`` are those of
/// the operation in its work, and in the tasks that the work creates, except for detached tasks. The tasks
/// that the work creates retain the operation, even after it has finished, except for detached tasks. So use
/// `Task.detached` for a task that runs for a long time, such as the loop of a server. Observers
/// are notified of the beginning of the execution on the thread that calls `start()`. They are notified of
/// its end, and of the finish, on the thread on which the task ends. Task-local values are those of the
/// caller of a direct `start()`. If a queue starts the operation, no task-local values are set, except for the
/// service context that OperationsTelemetry captures. With `inheritsTaskLocalValues`, the work has all
/// task-local values of the code that created the operation, also if it is started directly.
///
/// The priority of the task is chosen at the start, and rises if a task of higher priority waits for the
/// operation; see <doc:PrioritiesAndWidths>. It follows from the operation's
/// ``Operation/qualityOfService``, or else from its queue's: user-interactive and user-initiated
/// are `high`, utility is `low`, background is `background`. If neither is set,
/// ``Operation/queuePriority`` decides: `high` and `veryHigh` are `high`, `low` is `low`, `veryLow`
/// is `background`, and `normal` is `medium`, or the priority of the task that calls `start()`
/// directly.
// Unchecked `Sendable` conformance for the reason given at `Operation`. The operation's lock guards
// `asyncTask`.
open class AsyncOperation<Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
  @exclusivity(unchecked) private final var asyncTask = AsyncTask()

  /// Creates an operation of a subclass that overrides ``run()``.
  public init() { super.init(asynchronous: nil) }

  /// Creates an operation that calls `body`.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - priority: The operation's ``Operation/queuePriority``.
  ///   - dependencies: The operations that must finish before this one can start.
  ///   - body: Called at most once. It is released before threads and tasks that wait for the
  ///     operation continue, even if it was not called because the operation was cancelled.
  public init(
    name: String? = nil, priority: QueuePriority = .normal, dependencies: [Operation] = [],
    _ body: @escaping @Sendable () async throws -> Output
  ) {
    super.init(asynchronous: body)
    configure(name, priority, dependencies)
  }

  /// Creates an operation that calls `body`, with the task-local values of the caller if requested.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - priority: The operation's ``Operation/queuePriority``.
  ///   - dependencies: The operations that must finish before this one can start.
  ///   - inheritsTaskLocalValues: Whether the work has the task-local values of the code that calls this
  ///     initializer, as the work of a `Task` has. If it is `true`, a second task keeps the values until
  ///     the operation starts.
  ///   - body: Called at most once. It is released before threads and tasks that wait for the
  ///     operation continue, even if it was not called because the operation was cancelled.
  public init(
    name: String? = nil, priority: QueuePriority = .normal, dependencies: [Operation] = [],
    inheritsTaskLocalValues: Bool, _ body: @escaping @Sendable () async throws -> Output
  ) {
    super.init(asynchronous: body)
    configure(name, priority, dependencies)
    if inheritsTaskLocalValues { asyncTask.values = TaskLocalValues() }
  }

  // MARK: Work

  /// Does the work. Subclasses override this method and need not call `super`.
  ///
  /// Called once, in a new task, unless the operation was cancelled before it started. The
  /// operation executes until this method has returned or thrown. The returned value or the error
  /// is its ``ResultOperationSupplement/result``. If the operation is cancelled, the task is
  /// cancelled too.
  ///
  /// The base class calls the closure that the operation was created with.
  ///
  /// - Throws: The error of the work. The operation finishes nevertheless.
  /// - Precondition: The operation has a closure, which has not run.
  open func run() async throws -> Output {
    // If the operation's own task calls this method, the closure is released when the task finishes the
    // operation.
    let isInTask = withTask { $0.task } != nil
    guard case .asynchronous(let body) = withWork({ $0.beginBody(keepsBody: isInTask) }) else {
      throw refuseToRun()
    }
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
  /// - Parameter result: The future ``ResultOperationSupplement/result``.
  open func willFinish(_ result: Result<Output, any Error>) async {}

  // MARK: Lifecycle

  /// Begins the work and returns. The rules of ``Operation/start()`` apply.
  public final override func start() { super.start() }

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
    let stated = TaskPriority(QualityOfService.current, queuePriority)
    let (name, executor) = (name, executorOfTask)
    let values = withTask { $0.values.take() }
    // A task that inherits values is created by another task, whose priority it must not inherit.
    let priority = values == nil ? stated : stated ?? Task.currentPriority
    let makeTask: @Sendable () -> Void = {
      let task = Task(name: name, executorPreference: executor, priority: priority) {
        await CurrentWork.$operationOfTask.withValue(self) { await self.runToEnd() }
      }
      self.withTask { $0.taskWasMade(task) }?.resume()
      // A task may have begun to wait for the operation before this task was stored.
      if let raised = self.escalatedTaskPriority { self.escalateTask(to: raised) }
    }
    if let values {
      let context = contextOfWork
      values.perform { if let context { context.bind(makeTask) } else { makeTask() } }
    } else {
      CurrentWork.creatingTask(of: self, makeTask)
    }
    return false
  }

  /// The queue whose threads run the work; `nil` if no queue contains the operation, and no work of a queue
  /// has started it.
  private final var executorOfTask: QueueCore? {
    enqueuedQueue?.takeUnretainedValue() ?? queueOfWork?.core ?? CurrentWork.executor
  }

  final override var knownStart: Int64? { withTask { $0.started } }

  /// Whether the current task is the task of this operation, and not a child of it.
  final override var isInOwnTask: Bool {
    guard let task = withTask({ $0.task }) else { return false }
    return withUnsafeCurrentTask { $0?.hashValue == task.hashValue }
  }

  final override func raisesTask(to priority: TaskPriority) -> Bool {
    (escalatedTaskPriority ?? TaskPriority(.current, queuePriority) ?? .medium) < priority
  }

  final override func escalateTask(to priority: TaskPriority) {
    withTask { $0.task }?.escalatePriority(to: priority)
  }

  private final func cancelTask() { withTask { $0.task }?.cancel() }

  private final func runToEnd() async {
    await waitUntilTaskIsKnown()
    // `cancel()` on another thread may have set the cancelled flag before it could find the task.
    // In that case the task cancels itself.
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let outcome = await runKeepingError()
    await willFinish(outcome)
    withWork { $0.end(outcome) }
    withTask { $0.end() }
    endContext()
    if finish(wasExecuting: true) { finishWasSet() }
  }

  /// Waits until the thread that created the task has stored the task. `cancel()` can find only a
  /// stored task, so the work must not begin earlier. No thread blocks here: the task is suspended,
  /// and the thread that creates it resumes it.
  private final func waitUntilTaskIsKnown() async {
    if withTask({ $0.task }) != nil { return }
    await withUnsafeContinuation { beginning in
      if withTask({ $0.waitsForTask(beginning) }) { beginning.resume() }
    }
  }

  private final func runKeepingError() async -> Result<Output, any Error> {
    let outcome: Result<Output, any Error>
    do {
      outcome = .success(try await run())
    } catch {
      outcome = .failure(error)
    }
    return keepingError(outcome)
  }

  private final func refuseToRun() -> OperationMisuse {
    let misuse = OperationMisuse(
      kind: .nothingToRun,
      description:
        "-[AsyncOperation run]: \(description) has nothing to run: it was created without a "
        + "closure and does not override run(), or has run already")
    OperationMisuse.raise(misuse.kind, misuse.description)
    return misuse
  }

  private final func withTask<Value>(_ body: (inout AsyncTask) -> Value) -> Value {
    lock.lock()
    defer { lock.unlock() }
    return body(&asyncTask)
  }
}
