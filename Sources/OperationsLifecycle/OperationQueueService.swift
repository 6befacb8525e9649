// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import OperationsCore
public import ServiceLifecycle

/// A service that shuts a queue down when the program ends.
///
/// The service waits until its service group shuts down. Then it closes the queue, and waits until the operations
/// of the queue have finished:
///
/// ```swift
/// let uploads = OperationQueue(name: "uploads", maxConcurrentOperationCount: 4)
/// let group = ServiceGroup(
///   services: [OperationQueueService(uploads), server],
///   gracefulShutdownSignals: [.sigterm], cancellationSignals: [.sigint], logger: logger)
/// try await group.run()
/// ```
///
/// A service group shuts its services down one after the other, in the reverse order of the list. So put the
/// service of a queue before the services that add operations to the queue. Then these services have ended when the
/// queue is closed, and no operation is refused.
public struct OperationQueueService: Service, CustomStringConvertible {
  /// The queue that the service shuts down.
  public let queue: OperationQueue
  /// What happens to the operations of the queue in a graceful shutdown.
  public let mode: OperationQueueShutdownMode

  /// Creates a service that shuts a queue down.
  ///
  /// - Parameters:
  ///   - queue: The queue. It must not be ``OperationQueue/main``, which cannot be closed.
  ///   - mode: What happens to the operations of the queue in a graceful shutdown. The default is `.drain`: all
  ///     operations run.
  public init(_ queue: OperationQueue, mode: OperationQueueShutdownMode = .drain) {
    self.queue = queue
    self.mode = mode
  }

  /// The name of the service in the messages of a service group, which contains the name of the queue.
  public var description: String { "OperationQueueService “\(queue.name ?? "")”" }

  /// Waits until the service group shuts down, and then shuts the queue down. Returns when the queue is closed and
  /// all of its operations have finished.
  ///
  /// In a graceful shutdown, ``mode`` decides what happens to the operations. If the task is cancelled, all
  /// operations are cancelled, also if a graceful shutdown has already begun. A service group cancels the task if it
  /// receives a signal for cancellation, if another service fails, or if the graceful shutdown takes longer than the
  /// group's limit. Outside a service group, the method waits until the task is cancelled.
  ///
  /// The operations continue until they end, so an operation that does not react to its cancellation delays the end
  /// of the program. The method throws no error, because a group reports an error as the failure of a service. A
  /// second call closes nothing, and waits for the same operations.
  public func run() async {
    do {
      try await gracefulShutdown()
    } catch {
      return await queue.shutdown(.cancelAll)
    }
    await withTaskCancellationHandler {
      await queue.shutdown(mode)
    } onCancel: {
      // The handler can run on a thread that holds a lock of the Swift runtime, and cancelling operations calls code
      // of the program. So another task cancels them.
      Task { await queue.shutdown(.cancelAll) }
    }
  }
}
