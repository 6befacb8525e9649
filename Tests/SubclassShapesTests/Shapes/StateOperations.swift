// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// An operation that has one property `state`. The raw value of each state is the key of the flag
/// that changes with the state, and the operation announces changes for these keys.
class KeyedStateOperation: Operation, @unchecked Sendable {
  enum State: String {
    case ready = "isReady"
    case executing = "isExecuting"
    case finished = "isFinished"
  }

  fileprivate let job: Job
  private let lock = ShapeLock()
  private var currentState = State.ready

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  var state: State {
    get { lock.withLock { currentState } }
    set {
      let oldValue = state
      willChangeValue(forKey: newValue.rawValue)
      willChangeValue(forKey: oldValue.rawValue)
      lock.withLock { currentState = newValue }
      didChangeValue(forKey: oldValue.rawValue)
      didChangeValue(forKey: newValue.rawValue)
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    main()
  }

  override func main() {
    job.later {
      self.job.work(of: self)
      self.state = .finished
    }
  }
}

#if !CORPUS_FOUNDATION
  /// An operation that has one property `state`. The class declares which flags depend on `state`.
  final class AffectingStateOperation: Operation, @unchecked Sendable {
    enum State {
      case ready, executing, finished
    }

    private let job: Job
    private let lock = ShapeLock()
    private var currentState = State.ready

    init(_ job: Job) {
      self.job = job
      super.init()
    }

    private var state: State {
      get { lock.withLock { currentState } }
      set {
        willChangeValue(forKey: "state")
        lock.withLock { currentState = newValue }
        didChangeValue(forKey: "state")
      }
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      ["isReady", "isExecuting", "isFinished"].contains(key)
        ? ["state"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }

    override func start() {
      state = .executing
      if isCancelled {
        state = .finished
      } else {
        job.later {
          self.job.work(of: self)
          self.state = .finished
        }
      }
    }
  }
#endif

/// An operation with a state machine, which a lock protects and which refuses invalid transitions.
/// The operation announces changes without holding the lock.
final class StateMachineOperation: Operation, @unchecked Sendable {
  private enum State {
    case waiting, running, ended

    func allows(_ next: State) -> Bool {
      switch (self, next) {
      case (.waiting, .running), (.waiting, .ended), (.running, .ended): true
      default: false
      }
    }
  }

  private let job: Job
  private let lock = ShapeLock()
  private var state = State.waiting

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override var isExecuting: Bool { lock.withLock { state == .running } }
  override var isFinished: Bool { lock.withLock { state == .ended } }

  private func move(to next: State) -> Bool {
    let keys = next == .running ? ["isExecuting"] : ["isExecuting", "isFinished"]
    for key in keys { willChangeValue(forKey: key) }
    let isAllowed = lock.withLock {
      guard state.allows(next) else { return false }
      state = next
      return true
    }
    for key in keys { didChangeValue(forKey: key) }
    return isAllowed
  }

  override func start() {
    guard !isCancelled, move(to: .running) else {
      _ = move(to: .ended)
      return
    }
    main()
  }

  override func main() {
    job.later {
      self.job.work(of: self)
      if !self.move(to: .ended) { self.job.report("ended twice") }
      // The second call of `move(to: .ended)` imitates code with several exits, which tries to end
      // the operation twice. The state machine must refuse it.
      if self.move(to: .ended) { self.job.report("ended again") }
    }
  }
}

/// An operation whose flags are protected by a concurrent dispatch queue: reads use `sync`, and
/// changes use a barrier.
final class QueueGuardedOperation: Operation, @unchecked Sendable {
  private let job: Job
  private let guardian = DispatchQueue(label: "state", attributes: .concurrent)
  private var flags = (isExecuting: false, isFinished: false)

  init(_ job: Job) {
    self.job = job
    super.init()
  }

  override private(set) var isExecuting: Bool {
    get { guardian.sync { flags.isExecuting } }
    set {
      willChangeValue(forKey: "isExecuting")
      guardian.sync(flags: .barrier) { flags.isExecuting = newValue }
      didChangeValue(forKey: "isExecuting")
    }
  }

  override private(set) var isFinished: Bool {
    get { guardian.sync { flags.isFinished } }
    set {
      willChangeValue(forKey: "isFinished")
      guardian.sync(flags: .barrier) { flags.isFinished = newValue }
      didChangeValue(forKey: "isFinished")
    }
  }

  override func start() {
    if isCancelled {
      isFinished = true
      return
    }
    isFinished = false
    isExecuting = true
    main()
  }

  override func main() {
    job.later {
      self.job.work(of: self)
      self.isExecuting = false
      self.isFinished = true
    }
  }
}

extension Shape {
  static let keyedState = Shape(
    name: "keyedState",
    summary: "one `state`, whose old and new value are announced as keys"
  ) { KeyedStateOperation($0) }

  static let affectingStateSummary =
    "one `state`, on which the flags depend by `keyPathsForValuesAffectingValue(forKey:)`"

  #if !CORPUS_FOUNDATION
    static let affectingState = Shape(name: "affectingState", summary: affectingStateSummary) {
      AffectingStateOperation($0)
    }
  #endif

  static let stateMachine = Shape(
    name: "stateMachine",
    summary: "a state machine under a lock; `start()` without `super` calls `main()`"
  ) { StateMachineOperation($0) }

  static let queueGuarded = Shape(
    name: "queueGuarded",
    summary: "flags that are set behind a concurrent dispatch queue with barriers"
  ) { QueueGuardedOperation($0) }
}
