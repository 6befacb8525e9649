// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension ResultOperationSupplement {
  /// Adds an operation that continues with the value of this operation.
  ///
  /// ```swift
  /// let page = queue.addAsyncOperation(name: "page") { try await download(address) }
  /// let title = page.then(on: queue, name: "title") { page in try findTitle(in: page) }
  /// print(try await title.value)
  /// ```
  ///
  /// The new operation depends on this one and requires its success: if this one fails or is cancelled,
  /// the new one is cancelled with an ``OperationDependencyError`` and does not run. When the new operation
  /// has finished, it releases this operation and its value. This operation may have finished already.
  ///
  /// - Parameters:
  ///   - queue: The queue of the new operation. It can be a different queue from this operation's.
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - body: Called with the value of this operation. It runs on the threads of `queue`, and may block
  ///     them.
  /// - Returns: The new operation.
  @discardableResult
  public func then<New: Sendable>(
    on queue: OperationQueue, name: String? = nil,
    _ body: @escaping @Sendable (Output) async throws -> New
  ) -> AsyncOperation<New> {
    let next = makeNext(name, body)
    queue.addOperation(next)
    return next
  }

  /// Creates an operation that continues with the value of this operation, and does not add it to
  /// a queue.
  ///
  /// Add the new operation to a queue. Otherwise it never runs, and a task that waits for its value waits
  /// forever. To create and add it in one step, call ``then(on:name:_:)``, whose other rules apply.
  ///
  /// - Parameters:
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - body: Called with the value of this operation.
  /// - Returns: The new operation. It retains this operation until it has finished.
  public func then<New: Sendable>(
    name: String? = nil, _ body: @escaping @Sendable (Output) async throws -> New
  ) -> AsyncOperation<New> {
    makeNext(name, body)
  }

  private func makeNext<New: Sendable>(
    _ name: String?, _ body: @escaping @Sendable (Output) async throws -> New
  ) -> AsyncOperation<New> {
    let operation = resultOperation
    return AsyncOperation(name: name, requiring: [operation]) {
      try await body(operation.finalValue())
    }
  }
}

extension AsyncOperation {
  /// Creates an operation that continues with the values of several operations.
  ///
  /// ```swift
  /// let text = queue.addOperation(name: "text") { try read(file) }
  /// let words = queue.addAsyncOperation(name: "words") { try await loadDictionary() }
  /// let check = AsyncOperation(name: "check", after: text, words) { text, words in
  ///   misspelled(in: text, words)
  /// }
  /// queue.addOperation(check)
  /// ```
  ///
  /// The new operation depends on each of the operations and requires its success: if one of them fails or
  /// is cancelled, the new one is cancelled with an ``OperationDependencyError`` and does not run. When the
  /// new operation has finished, it releases the operations and their values.
  ///
  /// - Parameters:
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - first: The first operation whose value the new operation needs.
  ///   - others: The other operations whose values the new operation needs.
  ///   - body: Called with the values, in the order of the operations.
  public convenience init<First: Sendable, each Other: Sendable>(
    name: String? = nil, after first: ResultOperation<First>,
    _ others: repeat ResultOperation<each Other>,
    body: @escaping @Sendable (First, repeat each Other) async throws -> Output
  ) {
    var required: [Operation] = [first]
    for other in repeat each others { required.append(other) }
    self.init(name: name, requiring: required) {
      try await body(first.finalValue(), repeat (each others).finalValue())
    }
  }

  /// Creates an operation that continues with the values of all operations of an array.
  ///
  /// The rules of `init(name:after:body:)` for several operations apply. If the array is empty, the body is
  /// called with an empty array.
  ///
  /// - Parameters:
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - operations: The operations whose values the new operation needs.
  ///   - body: Called with the values, in the order of the operations.
  public convenience init<Input: Sendable>(
    name: String? = nil, after operations: [ResultOperation<Input>],
    body: @escaping @Sendable ([Input]) async throws -> Output
  ) {
    self.init(name: name, requiring: operations) {
      var values: [Input] = []
      for operation in operations { values.append(try await operation.finalValue()) }
      return try await body(values)
    }
  }

  /// Creates an operation that requires the success of other operations, and releases them when it has
  /// finished.
  fileprivate convenience init(
    name: String?, requiring operations: [Operation],
    _ body: @escaping @Sendable () async throws -> Output
  ) {
    self.init(name: name, body)
    releasesDependenciesWhenFinished = true
    for operation in operations { addDependency(operation, requires: .success) }
  }
}

extension InvocationOperation {
  /// Creates an operation that continues with the result of this one, as
  /// ``ResultOperationSupplement/then(name:_:)`` does.
  ///
  /// - Parameter body: Called with the result of this operation.
  /// - Returns: The new operation. It is not in a queue.
  public final func then<New: Sendable>(
    _ body: @escaping @Sendable (Result) async throws -> New
  ) -> AsyncOperation<New> {
    AsyncOperation(name: nil, requiring: [self]) { [self] in
      // An operation of a subclass that does not call `super.main()` finishes successfully without
      // a result.
      guard let outcome = outcomeSoFar else { throw InvocationOperationError.cancelled }
      return try await body(outcome.get())
    }
  }
}
