// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationQueueSupplement where Self: OperationQueue {
  /// Adds an operation that waits for a delay before it can start.
  ///
  /// The delay begins now, also if the queue is suspended or has the width 0. Until it ends, the operation is
  /// waiting: its ``Operation/isReady`` is `false`, as if it had one more dependency, and ``OperationSupplement/reasonsNotRunning()``
  /// returns the time left. After that, it starts like every other operation: when its dependencies have
  /// finished, a slot is free and it is first in the order of priorities. If it is cancelled, it does not wait for the end of the delay. A
  /// barrier that is added later waits for the delayed operation.
  ///
  /// A delayed operation needs no thread and no task of its own. The library measures all delays on one clock
  /// with one task. If the operation's class overrides `isReady` without calling `super`, the delay has no
  /// effect.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - delay: The minimum time until the operation starts. A negative delay counts as zero, and more than
  ///     100 years as 100 years.
  ///   - clock: Measures the delay.
  /// - Precondition: The operation is not and was not in a queue, and was not started.
  public func addOperation(
    _ operation: Operation, delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) {
    guard delay > .zero else { return addOperation(operation) }
    ForkedProcess.check("to add an operation to a queue")
    let moment = Alarms.moment(after: delay, on: Alarms.time(of: clock))
    let isDelayed = operation.waitForDelay()
    addOperation(operation)
    if isDelayed { operation.delayBegan(until: moment) }
  }

  /// Adds a block as a ``BlockOperation`` that waits for a delay before it can start; see
  /// ``addOperation(_:delay:clock:)``.
  ///
  /// - Parameters:
  ///   - delay: The minimum time until the block runs. A negative delay counts as zero, and more than 100 years
  ///     as 100 years.
  ///   - clock: Measures the delay.
  ///   - block: Called once, on a thread of the queue, unless the operation is cancelled before it starts.
  /// - Returns: The operation, which has the queue's ``OperationQueue/qualityOfService`` at this moment.
  @discardableResult
  public func addOperation(
    delay: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ block: @escaping @Sendable () -> Void
  ) -> BlockOperation {
    let operation = BlockOperation(block: block)
    if !core.hasDefaultQualityOfService { operation.qualityOfService = core.qualityOfService }
    addOperation(operation, delay: delay, clock: clock)
    return operation
  }

  /// Adds an asynchronous function with a result as an ``AsyncOperation`` that waits for a delay before it can
  /// start; see ``addOperation(_:delay:clock:)``.
  ///
  /// The operation holds no slot during the delay.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - delay: The minimum time until the function is called. A negative delay counts as zero, and more than
  ///     100 years as 100 years.
  ///   - clock: Measures the delay.
  ///   - body: Called once, in a new task on the queue's threads, unless the operation is cancelled before it
  ///     starts.
  /// - Returns: The operation. Its ``ResultOperationSupplement/value`` is the function's result.
  @discardableResult
  public func addAsyncOperation<Output: Sendable>(
    name: String? = nil, delay: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable () async throws -> Output
  ) -> AsyncOperation<Output> {
    let operation = AsyncOperation(name: name, body)
    addOperation(operation, delay: delay, clock: clock)
    return operation
  }
}
