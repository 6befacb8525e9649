// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An operation that consists of others.
///
/// ```swift
/// let chapter = GroupOperation([pages, notes])
/// chapter.addDependency(outline)
/// queue.addOperation(chapter)
/// ```
///
/// Its members run in a queue of the group's own, from when the group starts, as soon as each is ready;
/// they take no slots of the queue in which the group is. The group finishes when all have finished. More
/// may be added at any time until then, by members too: as long as the member that adds has not finished,
/// the group waits for what it adds.
///
/// If members have failed, the group fails when all have finished, with a ``GroupOperationError``. The
/// failure of one member does not stop the others, except for those that depend on its success: these are
/// cancelled, and the failure counts once. A member that was merely cancelled has not failed.
///
/// Cancelling the group cancels its members and keeps others from joining, before ``cancel()`` returns or,
/// where it races an ``addOperation(_:)``, before that returns. The group finishes when those that run
/// have ended, and if it was cancelled before it started, then too.
///
/// A subclass adds its members when it is created, or by a member that runs first, and concludes in
/// ``AsyncOperation/willFinish(_:)``.
///
/// A group is an ``AsyncOperation``: it can be waited for, retried, limited in time, and followed by
/// others, and holds no thread while its members run.
// Unchecked for the reason given at `Operation`; `members` is constant and safe.
open class GroupOperation: AsyncOperation<Void>, @unchecked Sendable {
  private final let members = GroupMembers()

  /// Creates a group without members, which finishes at once if it is started like that.
  public override init() {
    super.init()
    members.queue.group = self
  }

  /// Creates a group that begins with these members.
  ///
  /// - Precondition: None of them is or was in a queue, or has been started.
  public convenience init(_ operations: [Operation]) {
    self.init()
    for operation in operations { addOperation(operation) }
  }

  deinit { members.groupIsGone() }

  // MARK: Members

  /// Adds an operation, unless the group was cancelled or all its members have finished.
  ///
  /// May be called on any thread, before the group starts and while it runs. Where it is refused, the
  /// operation is as it was and may be added elsewhere.
  ///
  /// - Returns: Whether it was added. The group does not finish before it then.
  /// - Precondition: It is not and was not in a queue, has not been started, and is not the group itself.
  @discardableResult
  public final func addOperation(_ operation: Operation) -> Bool {
    guard operation !== self else {
      Misuse.raise(
        .cannotEnqueue, "-[GroupOperation addOperation:]: \(description) cannot be added to itself")
      return false
    }
    guard members.add(operation) else { return false }
    // Against `cancel()`, which sets the flag and then cancels whom it finds.
    if isCancelled { operation.cancel() }
    return true
  }

  /// The members that have not finished, in the order of addition. A copy.
  public final var operations: [Operation] { members.queue.operations }

  /// What members have failed with so far, in the order in which they finished.
  ///
  /// A failure is listed once: what it has cancelled by ``DependencyRequirement/success`` adds nothing. If
  /// members were cancelled because an operation outside of the group has failed, the ``DependencyError`` of
  /// the first one is listed.
  public final var errors: [any Error] { members.errors }

  /// The most members that run at once; see ``OperationQueue/maxConcurrentOperationCount``.
  public final var maxConcurrentOperationCount: Int {
    get { members.queue.maxConcurrentOperationCount }
    set { members.queue.maxConcurrentOperationCount = newValue }
  }

  // MARK: Lifecycle

  /// Lets the members run, and waits until all of them have finished.
  ///
  /// - Throws: ``GroupOperationError`` where members have failed; `CancellationError` where the group was
  ///   cancelled.
  // Final: the compiler (6.3.1) crashes where a `super` call from another module ends here.
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
    // Not where it has finished before.
    if isCancelled { members.cancel() }
  }

  final override func runBody() -> Bool {
    members.queue.name = name ?? "group \(id.rawValue)"
    members.queue.qualityOfService = .current
    return super.runBody()
  }

  /// Nothing has run, but there may be members that are on their way out of the queue.
  final override func finishUnrun() -> Bool {
    members.cancel()
    // The members of one that is its own member would wait for it.
    if isMemberOfItself || members.drain() { return super.finishUnrun() }
    beginAwaiting(.queue(members.queue))
    Task {
      await members.waitForLast()
      endAwaiting(.queue(members.queue))
      if finishUnrunAtLast() { finishWasSet() }
    }
    return false
  }

  /// Whether it is a member of itself, through other groups. Such groups can never start.
  private final var isMemberOfItself: Bool {
    var seen: Set<ObjectIdentifier> = []
    var group: Operation? = self
    while let current = group, seen.insert(ObjectIdentifier(current)).inserted {
      group = (current.queueHoldingIt as? GroupQueue)?.group
    }
    return group === self
  }

  private final func finishUnrunAtLast() -> Bool { super.finishUnrun() }
}

/// Operations of a ``GroupOperation`` have failed.
public struct GroupOperationError: Error, CustomStringConvertible {
  /// What they have failed with, in the order in which they finished. Never empty.
  public let errors: [any Error]

  /// The errors as one sentence, for people.
  public var description: String {
    let first = errors.first.map { "\($0)" } ?? ""
    return errors.count == 1
      ? "An operation of the group has failed: \(first)"
      : "\(errors.count) operations of the group have failed, the first one thus: \(first)"
  }
}
