// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The context in which the work of an operation runs, for example the trace to which the work belongs.
///
/// A module of this package that knows a kind of context installs an ``OperationContextHook``, which creates
/// these objects.
package protocol OperationContext: AnyObject, Sendable {
  /// Calls `body` once, on this thread, with this context as the current one.
  func bind(_ body: () -> Void)

  /// Handles that the work of an operation is about to begin. Called on the thread that begins the work, once
  /// for each operation that a queue starts, but not for barriers.
  ///
  /// - Returns: The context of the work.
  func begin(_ operation: Operation) -> any OperationContext

  /// Handles that the work of an operation has ended. Called at most once, for the context that ``begin(_:)``
  /// has returned, on any thread. For a block operation and an asynchronous operation, it is called before the
  /// operation finishes. For another subclass that a queue starts, it is called when `start()` has returned, which
  /// is after the finish. Not called if a subclass that overrides `start()` finishes after `start()` has returned.
  func end(_ operation: Operation)
}

/// Captures the context of the code that creates or adds an operation. At most one hook is installed at a time.
package final class OperationContextHook: Sendable {
  /// The installed hook. Hooks are never released, so that a thread can use one while another thread removes
  /// it.
  private static let installed = Atomic<Unmanaged<OperationContextHook>?>(nil)
  private let capture: @Sendable () -> (any OperationContext)?

  /// Creates a hook.
  ///
  /// - Parameter capture: Returns the context of the calling thread or task; `nil` if it has none. Called on
  ///   each thread that creates or adds an operation while the hook is installed.
  package init(capture: @escaping @Sendable () -> (any OperationContext)?) {
    self.capture = capture
  }

  /// Makes the operations that are created or added from now on run in the context that this hook captures.
  /// Replaces the hook that was installed before. Can be called on any thread.
  package func install() {
    Self.installed.store(.passRetained(self), ordering: .releasing)
  }

  /// Removes the installed hook. Operations whose context was captured keep it.
  package static func remove() { installed.store(nil, ordering: .relaxed) }

  /// Whether a hook is installed.
  @inline(__always)
  static var isInstalled: Bool { installed.load(ordering: .relaxed) != nil }

  fileprivate static func captureContext() -> (any OperationContext)? {
    installed.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.capture() }
  }
}

extension Operation {
  /// Stores the context of the calling code, if it has one, as the context of this operation's work. Replaces
  /// the context that was stored when the operation was created.
  @inline(never)
  final func captureContext() {
    guard let context = OperationContextHook.captureContext() else { return }
    // The replaced context is released after the lock, because its values may have a `deinit` of the user.
    let replaced = makeRare { rare in
      defer { rare.context = context }
      return rare.context
    }
    withExtendedLifetime(replaced) {}
  }

  /// Calls `body`, which does the work of the operation, with the operation's context as the current one. The
  /// first call for an operation takes the context, so a call inside `body` only calls its own `body`.
  ///
  /// - Parameter body: The work. Returns whether the work has ended.
  @inline(__always)
  final func withContext(_ body: () -> Bool) {
    guard extra.load(ordering: .acquiring).isRare else {
      _ = body()
      return
    }
    withCapturedContext(body)
  }

  @inline(never)
  private final func withCapturedContext(_ body: () -> Bool) {
    guard let rare, rare.mayHaveContext,
      let context = withRare({ $0?.takeContext() }), enqueuedQueueIsOfProgram
    else {
      _ = body()
      return
    }
    let status = status.load(ordering: .acquiring)
    let isInQueue = status.has(.enqueued) && !status.has(.barrier)
    let begun = isInQueue ? context.begin(self) : context
    withRare { $0?.contextOfWork = begun }
    var hasEnded = false
    begun.bind { hasEnded = body() }
    if hasEnded { endContext() }
  }

  /// Whether the operation is not in a queue for work of the library, such as completion blocks. That work
  /// has no context.
  private final var enqueuedQueueIsOfProgram: Bool {
    enqueuedQueue?._withUnsafeGuaranteedRef { !$0.isOfLibrary } ?? true
  }

  /// The context in which the work of the operation runs, from the beginning of the work to its end.
  final var contextOfWork: (any OperationContext)? {
    guard let rare, rare.mayHaveContext else { return nil }
    return withRare { $0?.contextOfWork }
  }

  /// Handles that the work of the operation has ended. A second call has no effect.
  final func endContext() {
    guard let rare, rare.mayHaveContext,
      let context = withRare({ rare in
        defer { rare?.contextOfWork = nil }
        return rare?.contextOfWork
      })
    else { return }
    context.end(self)
  }
}

extension OperationSupplement where Self: Operation {
  /// Whether the operation has finished. A subclass's override is not read.
  package var hasFinished: Bool { status.load(ordering: .acquiring).isFinished }

  /// The name of the operation or, if it has none, its kind. A subclass's override is not read.
  package var titleForDisplay: String {
    guard let name = givenName, !name.isEmpty else { return kind }
    return name
  }
}
