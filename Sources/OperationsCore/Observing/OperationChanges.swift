// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes of one property, or the states of an operation, as they come.
public struct KeyValueChanges<Element: Sendable>: AsyncSequence, Sendable {
  /// Nothing fails.
  public typealias Failure = Never

  let stream: AsyncStream<Element>

  /// Takes them one by one. Several iterators share what there is between them.
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
}

extension KeyValueObservable {
  /// The changes of a property, for `for await`.
  ///
  /// Begins with this call and ends when the object goes away; that it is watched does not keep it
  /// alive. A reader that is late gets the newest change and not those before it.
  ///
  /// - Parameters:
  ///   - keyPath: The property, without its class: `\.isFinished`.
  ///   - options: What each change holds; with `.initial` the first one comes at once.
  /// - Returns: A sequence whose elements are what handlers of `observe` get.
  public func changes<Value: Sendable>(
    of keyPath: KeyPath<ObservedRoot, Value>, options: NSKeyValueObservingOptions = [.new, .old]
  ) -> KeyValueChanges<NSKeyValueObservedChange<Value>> {
    stream(of: keyPath, options: options)
  }

  /// The changes of a property of a subclass's own; see the other form.
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
  /// The states that the operation goes through, for `for await`: the present one, then each that
  /// follows, and nothing after `.finished`.
  ///
  /// A subclass is followed as far as it announces its changes. Ends early where the operation goes
  /// away; that it is watched does not keep it alive.
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

/// Hands on states in the order in which they were seen, by whichever threads.
private final class StateRelay: Sendable {
  private struct Seen {
    var last: OperationState?
    var untold: [OperationState] = []
    /// A thread is handing on what there is, and will find what comes meanwhile.
    var isHandingOn = false
  }

  private let seen = Locked(Seen())
  private let continuation: AsyncStream<OperationState>.Continuation

  init(_ continuation: AsyncStream<OperationState>.Continuation) {
    self.continuation = continuation
  }

  func look(at operation: Operation) {
    let isMine = seen.withLock { seen in
      // Read under the lock: of two threads the later one must not bring the older state.
      let state = operation.state
      if state == seen.last || seen.last == .finished { return false }
      seen.last = state
      seen.untold.append(state)
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
      seen.isHandingOn = !seen.untold.isEmpty
      return seen.isHandingOn ? seen.untold.removeFirst() : nil
    }
  }
}
