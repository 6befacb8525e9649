// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

extension OperationQueue {
  /// The queue whose operations run one at a time on the main dispatch queue.
  ///
  /// They run once the program serves that: with `RunLoop.main.run()` on the main thread; with
  /// `dispatchMain()` and below an asynchronous `main`, on Linux, on another thread, one at a time
  /// like all that is on the main dispatch queue. A program that does none of these never starts
  /// them.
  ///
  /// Its name, width, quality of service, suspension and ``underlyingQueue`` are fixed: setting them
  /// has no effect, which a ``Diagnostic`` tells. Operations in it can be cancelled like any other.
  ///
  /// The same object always; made when it is first asked for.
  ///
  /// Source: Apple, "OperationQueue.main".
  public static let main = OperationQueue(main: ())

  /// The queue of the operation that runs on the calling thread; of the outer one, where an operation
  /// was started by hand inside another.
  ///
  /// Outside of operations it is ``main`` on the main thread and on the main dispatch queue, whichever
  /// thread serves that, and `nil` elsewhere.
  ///
  /// Source: Apple, "OperationQueue.current".
  public static var current: OperationQueue? {
    let isOnMainQueue = MainDispatchQueue.isRunningHere
    // Where that was not so when the operation started, this is code that it runs synchronously on
    // the main dispatch queue.
    if let queue = CurrentWork.servedQueue, CurrentWork.isOnMainQueue || !isOnMainQueue {
      let owner = queue.owner.takeUnretainedValue()
      return owner === completions ? nil : owner
    }
    return isOnMainQueue || MainDispatchQueue.isMainThread ? main : nil
  }

  /// Whether this is ``main``, without making that.
  package final var isMain: Bool { core.isMain }

  /// Whether a property cannot be set because this is ``main``; says so where that is tried.
  final func isFixed(_ property: String) -> Bool {
    if core.isMain {
      Diagnostic.note(
        .setsFixedPropertyOfMainQueue,
        "\(property) of OperationQueue.main is fixed; setting it has no effect")
    }
    return core.isMain
  }

  /// Reports that a caller on the main thread waits for what only that thread could do.
  final func refuseToWaitOnMain(_ method: String) {
    Misuse.raise(
      .waitOnMainThread,
      "\(method): called on the main thread with operations in “\(name ?? "")” that it has yet to "
        + "start, and would wait for itself")
  }
}

extension QueueCore {
  /// The core of ``OperationQueue/main``, for those who need not make it: `nil` while nobody has
  /// asked for that queue, and then the same for ever.
  static let ofMain = Atomic<Unmanaged<QueueCore>?>(nil)

  /// Makes this the core of ``OperationQueue/main``, before anybody else sees it.
  func configureAsMain() {
    withScheduler { scheduler, _ in
      scheduler.name = "NSOperationQueue Main Queue"
      scheduler.maxConcurrentOperationCount = 1
    }
    qualityOfService = .userInteractive
    _ = setUnderlyingQueue(.main)
    Self.ofMain.store(.passUnretained(self), ordering: .releasing)
  }

  /// Whether the queue has something that has not been started.
  var hasPending: Bool { withScheduler { scheduler, _ in scheduler.hasPending } }
}
