// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An asynchronous sequence of the changes of one property, or of the states of an operation, in
/// order.
public struct KeyValueChanges<Element: Sendable>: AsyncSequence, Sendable {
  /// The type of the errors of the sequence: `Never`, because the sequence of changes never fails.
  public typealias Failure = Never

  let stream: AsyncStream<Element>

  /// Creates an iterator. If there are several iterators, each change goes to one of them.
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
}

extension KeyValueObservable {
  /// Returns the changes of a property, for `for await`.
  ///
  /// The sequence begins with this call and ends when the object is released. It does not keep the
  /// object alive. A slow reader gets only the newest of the changes that it has not read.
  ///
  /// - Parameters:
  ///   - keyPath: The property, without its class: `\.isFinished`.
  ///   - options: The values of each change; with `.initial` the first change comes at once.
  /// - Returns: A sequence with the same elements that handlers of `observe` receive.
  public func changes<Value: Sendable>(
    of keyPath: KeyPath<ObservedRoot, Value>, options: NSKeyValueObservingOptions = [.new, .old]
  ) -> KeyValueChanges<NSKeyValueObservedChange<Value>> {
    stream(of: keyPath, options: options)
  }

  /// Returns the changes of a property that a subclass declares, like the method for properties of
  /// the base class.
  @_disfavoredOverload
  public func changes<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.new, .old]
  ) -> KeyValueChanges<NSKeyValueObservedChange<Value>> {
    stream(of: keyPath, options: options)
  }

  private func stream<Object: AnyObject, Value: Sendable>(
    of keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions
  ) -> KeyValueChanges<NSKeyValueObservedChange<Value>> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NSKeyValueObservedChange<Value>.self, bufferingPolicy: .bufferingNewest(1))
    let observation = observe(keyPath, options: options, ended: { continuation.finish() }) {
      (_: Self, change: NSKeyValueObservedChange<Value>) in
      continuation.yield(change)
    }
    continuation.onTermination = { _ in observation.invalidate() }
    return KeyValueChanges(stream: stream)
  }
}

extension OperationSupplement where Self: Operation {
  /// The states of the operation, for `for await`: first the current state, then each following
  /// state. The sequence ends after `.finished`.
  ///
  /// State changes that a subclass does not announce are not reported. The sequence does not keep
  /// the operation alive, and ends early if the operation is released.
  public var states: KeyValueChanges<OperationState> {
    let (stream, continuation) = AsyncStream.makeStream(of: OperationState.self)
    let relay = StateRelay(continuation)
    let observations = [\Operation.isReady, \.isExecuting, \.isFinished, \.isCancelled].map {
      observe($0, options: .initial, ended: { continuation.finish() }) {
        (operation: Self, _: NSKeyValueObservedChange<Bool>) in
        relay.look(at: operation)
      }
    }
    continuation.onTermination = { _ in for observation in observations { observation.invalidate() }
    }
    return KeyValueChanges(stream: stream)
  }
}

/// Sends states to the sequence in the order in which threads have read them.
private final class StateRelay: Sendable {
  private struct Seen {
    var last: OperationState?
    var unreported: [OperationState] = []
    /// Whether a thread is sending states at present. That thread also sends the states that other
    /// threads add during this time.
    var isHandingOn = false
  }

  private let seen = Locked(Seen())
  private let continuation: AsyncStream<OperationState>.Continuation

  init(_ continuation: AsyncStream<OperationState>.Continuation) {
    self.continuation = continuation
  }

  func look(at operation: Operation) {
    let isMine = seen.withLock { seen in
      // The state of the operation is read under the lock, so that another thread cannot add an
      // older state after this thread has added a newer one.
      let state = operation.state
      if state == seen.last || seen.last == .finished { return false }
      seen.last = state
      seen.unreported.append(state)
      defer { seen.isHandingOn = true }
      return !seen.isHandingOn
    }
    if isMine { handOn() }
  }

  private func handOn() {
    while let next = takeNext() {
      continuation.yield(next)
      if next == .finished { continuation.finish() }
    }
  }

  private func takeNext() -> OperationState? {
    seen.withLock { seen in
      seen.isHandingOn = !seen.unreported.isEmpty
      return seen.isHandingOn ? seen.unreported.removeFirst() : nil
    }
  }
}
