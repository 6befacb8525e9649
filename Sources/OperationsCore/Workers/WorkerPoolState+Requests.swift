// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WorkerPoolState {
  /// The work of a thread. Without counted references, because thousands of these wait and are
  /// moved under the pool's lock.
  enum Job {
    /// The thread serves a queue. The job retains the public object of the queue.
    case serve(Unmanaged<QueueCore>)
    /// The thread runs blocks of an operation with several blocks. The job retains the blocks.
    case run(Unmanaged<ExecutionBlocks>)

    /// The address of the queue or of the blocks.
    var address: UnsafeMutableRawPointer {
      switch self {
      case .serve(let queue): queue.toOpaque()
      case .run(let blocks): blocks.toOpaque()
      }
    }

    /// A number that represents this job: the address, which is never 0 or 1.
    var summary: UInt { UInt(bitPattern: address) }

    /// The number of the waiting request for this work; 0 if no request waits. A queue or an
    /// operation's blocks have at most one such request. Guarded by the pool's lock.
    var waitingNumber: UInt64 {
      get {
        switch self {
        case .serve(let queue): queue._withUnsafeGuaranteedRef { $0.waitingRequest }
        case .run(let blocks): blocks._withUnsafeGuaranteedRef { $0.waitingRequest }
        }
      }
      nonmutating set {
        switch self {
        case .serve(let queue): queue._withUnsafeGuaranteedRef { $0.waitingRequest = newValue }
        case .run(let blocks): blocks._withUnsafeGuaranteedRef { $0.waitingRequest = newValue }
        }
      }
    }
  }

  enum Lane: Int, CaseIterable, Sendable {
    /// The library's own work, which comes first: one worker beyond the budget and beyond the
    /// limit, and another one beyond the budget if a request has waited for some milliseconds.
    case duty
    /// Completion blocks. The same numbers of workers apply as for duties.
    case completion
    /// A queue of default width: the budget, plus as many workers as are blocked.
    case shared
    /// A queue with its own width, or the blocks of one operation, which may wait for each other.
    /// In addition, the number of these workers doubles while all workers are blocked, and grows by
    /// one if no operation starts or finishes for 20 ms.
    case own

    /// Whether the lane is for operations of the program.
    @inline(__always)
    var isForOperations: Bool { self == .shared || self == .own }
  }

  struct Request {
    let job: Job
    var lane: Lane
    var number: UInt64 = 0
    /// Whether the request is served beyond the budget.
    var isSurplus = false
  }

  enum Action {
    case nothing
    case wake(Worker, Request)
    case start(Request)
  }

  /// 0 if no request waits, the job's ``Job/summary`` if one waits, and 1 if several wait.
  var waitingSummary: UInt {
    guard hasWaiting else { return 0 }
    guard waitingCount == 1 else { return 1 }
    let only = shared.first ?? own.first ?? duty.first ?? completion.first
    return only?.job.summary ?? 0
  }
}
