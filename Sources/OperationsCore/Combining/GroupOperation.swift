// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation that consists of other operations.
///
/// ```swift
/// let chapter = GroupOperation([pages, notes])
/// chapter.addDependency(outline)
/// queue.addOperation(chapter)
/// ```
///
/// The members run in the group's own queue after the group has started, each as soon as it is
/// ready. They need no slots of the group's queue. The group finishes when all have finished. Until
/// then, members can be added at any time, also by members: while the adding member has not
/// finished, the group waits for the added ones.
///
/// If members fail, the group fails with a ``GroupOperationError`` when all members have finished. The
/// failure of one member does not stop other members, except members that require the success of the failed
/// member. These members are cancelled, and the failure counts once. A member that was only cancelled has not
/// failed. If ``OperationSupplement/failsFast`` is `true`, the first failure cancels all other members.
///
/// Cancelling the group cancels its members and rejects new members before ``cancel()`` returns. If
/// another thread calls ``addOperation(_:)`` at the same time, the added operation is rejected or
/// cancelled before that call returns. The group finishes when the executing members have ended. A
/// group that is cancelled before it has started finishes, like every cancelled operation, when its
/// queue finishes it without running it.
///
/// A subclass adds its members when it is created, or through a member that runs first. It can do
/// final work in ``AsyncOperation/willFinish(_:)``.
///
/// A group is an ``AsyncOperation``: you can wait for it, retry it, limit its time and continue
/// with its result. It holds no thread while its members run. When it has finished, it releases its
/// dependencies.
// Unchecked `Sendable` conformance for the reason given at `Operation`. The property `members` is
// constant, and its object is thread-safe.
open class GroupOperation: AsyncOperation<Void>, @unchecked Sendable {
  fileprivate final let members = GroupMembers()

  /// Creates a group without members. It finishes at once if it is started without members.
  public override init() {
    super.init()
    members.queue.group = self
    releasesDependenciesWhenFinished = true
  }

  /// Creates a group with these members.
  ///
  /// - Precondition: None of the operations is or was in a queue, or was started.
  public convenience init(_ operations: [Operation]) {
    self.init()
    for operation in operations { addOperation(operation) }
  }

  deinit { members.groupIsGone() }

  // MARK: Members

  /// Adds an operation, unless the group was cancelled, all its members have finished, or a member has failed
  /// and the group fails fast.
  ///
  /// Can be called on any thread, before the group starts and while it executes. If the operation
  /// is rejected, it is unchanged and can be added elsewhere.
  ///
  /// - Returns: Whether the operation was added. If it was added, the group does not finish before the
  ///   operation.
  /// - Precondition: The operation is not and was not in a queue, was not started, and is not the
  ///   group itself.
  @discardableResult
  public final func addOperation(_ operation: Operation) -> Bool {
    guard operation !== self else {
      OperationMisuse.raise(
        .cannotEnqueue, "-[GroupOperation addOperation:]: \(description) cannot be added to itself")
      return false
    }
    guard members.add(operation) else { return false }
    // If another thread calls `cancel()` on the group at the same time, `cancel()` sets the
    // cancelled flag of the group, and then cancels the members that it finds. This method checks
    // the flag after it has added the operation. So if `cancel()` did not find the operation, this
    // method cancels it.
    if isCancelled {
      CancellationScope.cancel(operation, because: .container(id)) { operation.cancel() }
    }
    return true
  }

  /// The unfinished members, in the order of addition. The array is a copy.
  public final var operations: [Operation] { members.queue.operations }

  /// The errors of the members that have failed so far, in the order in which the members finished.
  ///
  /// A failure is listed once: members that it has cancelled by ``DependencyRequirement/success``
  /// add no error. If members were cancelled because an operation outside the group has failed, the
  /// ``OperationDependencyError`` of the first one is listed.
  public final var errors: [any Error] { members.errors }

  /// The maximum number of members that execute at once; see
  /// ``OperationQueue/maxConcurrentOperationCount``.
  public final var maxConcurrentOperationCount: Int {
    get { members.queue.maxConcurrentOperationCount }
    set { members.queue.maxConcurrentOperationCount = newValue }
  }

  // MARK: Lifecycle

  /// Lets the members run, and waits until all of them have finished.
  ///
  /// - Throws: ``GroupOperationError`` if members have failed; `CancellationError` if the group was
  ///   cancelled.
  // The method is final, because the compiler (6.3.1) crashes if an override in another module calls
  // `super.run()`.
  public final override func run() async throws {
    members.queue.isSuspended = false
    if !members.drain() {
      beginAwaiting(.queue(members.queue))
      await members.waitForLast()
      endAwaiting(.queue(members.queue))
    }
    if isCancelled { throw CancellationError() }
    let errors = members.errors
    if !errors.isEmpty { throw GroupOperationError(errors: errors) }
  }

  /// Cancels the group and its members. An override must call `super`.
  open override func cancel() {
    super.cancel()
    // If the group has already finished, `cancel()` does not cancel the members.
    if isCancelled { members.cancel() }
  }

  final override var innerOperations: [Operation] { members.queue.operations }

  final override var memberQueue: QueueID? { members.queue.core.id }

  final override func runBody() -> Bool {
    members.queue.name = name ?? "group \(id.rawValue)"
    members.queue.qualityOfService = .current
    return super.runBody()
  }

  /// Finishes a group that was cancelled before its start. No member has run, but members may be
  /// leaving the queue at this moment.
  final override func finishUnrun() -> Bool {
    members.cancel()
    // If the group is a member of itself, its members wait for the group, so the group must not
    // wait for them.
    if isMemberOfItself || members.drain() { return super.finishUnrun() }
    beginAwaiting(.queue(members.queue))
    Task {
      await members.waitForLast()
      endAwaiting(.queue(members.queue))
      if finish(wasExecuting: false) { finishWasSet() }
    }
    return false
  }

  /// Whether this group is a member of itself, through other groups. Such groups can never start.
  ///
  /// During the search, this thread may hold the last references to other groups and to their queues.
  /// They are released on another thread, because a `deinit` of the user may wait until this thread
  /// has finished the group.
  private final var isMemberOfItself: Bool {
    var seen: Set<ObjectIdentifier> = []
    var held: [any AnyObject & Sendable] = []
    var group: Operation? = self
    while let current = group, seen.insert(ObjectIdentifier(current)).inserted {
      let queue = current.enqueuedQueue.flatMap { QueueRegistry.queue(at: $0) }
      if let queue { held.append(queue) }
      // If the operation is not retired (has not left its queue), the queue at the stored address
      // is its queue.
      let isInQueue = !current.status.load(ordering: .sequentiallyConsistent).has(.retired)
      group = isInQueue ? (queue as? GroupQueue)?.group : nil
      if let group { held.append(group) }
    }
    let isFound = group === self
    group = nil
    // `held` contains the queues and groups that the search has read. The first of them is the
    // queue that contains this group. This thread cannot have the last reference to that queue,
    // because the queue exists until the group has finished.
    if held.count > 1 { ReleaseList.releaseElsewhere(consume held) }
    return isFound
  }
}

extension OperationSupplement where Self: GroupOperation {
  /// Whether the first failure of a member cancels the other members; `false` by default.
  ///
  /// If the value is `true` and a member fails, the unfinished members are cancelled with an
  /// ``OperationDependencyError`` that names the failed member, and the group rejects new members. The group
  /// fails when the executing members have ended. Set the property before the group starts. It can be set
  /// on any thread, and has no effect on earlier failures.
  public var failsFast: Bool {
    get { members.failsFast }
    set { members.failsFast = newValue }
  }
}

/// An error that means that operations of a ``GroupOperation`` have failed.
public struct GroupOperationError: Error, CustomStringConvertible {
  /// The errors of the failed members, in the order in which the members finished. The array is never empty.
  public let errors: [any Error]

  /// The errors of the failed members as one sentence, for people.
  public var description: String {
    let first = errors.first.map { "\($0)" } ?? ""
    return errors.count == 1
      ? "An operation of the group failed: \(first)"
      : "\(errors.count) operations of the group failed; the first error: \(first)"
  }
}
