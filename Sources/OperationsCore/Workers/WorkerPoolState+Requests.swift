// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WorkerPoolState {
  /// The work that a thread does for a request. A job contains unmanaged references, because
  /// thousands of jobs may wait, and they are moved under the pool's lock.
  enum Job {
    /// The thread serves a queue. The job retains the public object of the queue.
    case serve(Unmanaged<QueueCore>)
    /// The thread runs blocks of an operation with several blocks. The job retains the blocks.
    case run(Unmanaged<ExecutionBlocks>)
    /// The thread runs a task until the task is suspended or ends. The queue is the executor of the
    /// task. The job retains the queue, and not its public object.
    case resume(UnownedJob, Unmanaged<QueueCore>)

    /// A number that represents this job: the address of the queue to serve or of the blocks to run. The
    /// number of a task is 1, which also represents several jobs, because a worker of the queue serves the
    /// task like a job of another queue.
    var summary: UInt {
      switch self {
      case .serve(let queue): UInt(bitPattern: queue.toOpaque())
      case .run(let blocks): UInt(bitPattern: blocks.toOpaque())
      case .resume: 1
      }
    }

    /// The serial number of the waiting request for this job; 0 if no request waits. A queue, or
    /// the blocks of an operation, have at most one waiting request. The requests for tasks are not
    /// withdrawn, so they have no number here. Guarded by the pool's lock.
    var waitingNumber: UInt64 {
      get {
        switch self {
        case .serve(let queue): queue._withUnsafeGuaranteedRef { $0.waitingRequest }
        case .run(let blocks): blocks._withUnsafeGuaranteedRef { $0.waitingRequest }
        case .resume: 0
        }
      }
      nonmutating set {
        switch self {
        case .serve(let queue): queue._withUnsafeGuaranteedRef { $0.waitingRequest = newValue }
        case .run(let blocks): blocks._withUnsafeGuaranteedRef { $0.waitingRequest = newValue }
        case .resume: break
        }
      }
    }
  }

  enum Lane: Int, CaseIterable, Sendable {
    /// The library's own work, which is served first. If the budget of running threads is used up,
    /// one more worker may serve this lane, and another one if a request has waited for some
    /// milliseconds. One worker for this lane may exceed the limit of threads.
    case duty
    /// Completion blocks. As many additional workers may serve this lane as the lane for the
    /// library's own work.
    case completion
    /// Queues of default width. The number of workers is the budget of running threads, plus the
    /// number of blocked workers.
    case shared
    /// Queues with their own width, and blocks of one operation, which may wait for each other. The
    /// number of workers is the budget of running threads, plus the number of blocked workers. In
    /// addition, it doubles while all workers are blocked, and grows by one if no operation starts
    /// or finishes for 20 ms.
    case own
    /// Queues of default width whose quality of service is `.background`. The rules are those of `shared`,
    /// but the request waits while a request for other queues waits.
    case backgroundShared
    /// Queues with their own width whose quality of service is `.background`, and the blocks of their
    /// operations. The rules are those of `own`, but the request waits while a request for other queues waits.
    case backgroundOwn

    /// Whether this kind of requests (lane) is for operations of the program.
    @inline(__always)
    var isForOperations: Bool { rawValue >= Lane.shared.rawValue }

    /// Whether threads of low scheduling priority serve this kind of requests.
    @inline(__always)
    var isBackground: Bool { rawValue >= Lane.backgroundShared.rawValue }

    /// Whether the number of threads may exceed the budget because all threads are blocked.
    @inline(__always)
    var isOwn: Bool { self == .own || self == .backgroundOwn }
  }

  struct Request {
    let job: Job
    var lane: Lane
    var number: UInt64 = 0
    /// Whether the request was granted although the budget of running threads was used up. Such a
    /// request is for the library's own work or for completion blocks.
    var isSurplus = false
  }

  enum Action {
    case nothing
    case wake(Worker, Request)
    case start(Request)
    /// Ends an idle worker, whose place another thread takes.
    case replace(Worker, Request)
  }

  /// A summary of the waiting requests: 0 if no request waits, the ``Job/summary`` of the job if
  /// one request waits, and 1 if several requests wait. Requests of background queues count only if one of
  /// them is due.
  var waitingSummary: UInt {
    let backgroundCount = isBackgroundDue ? backgroundCount : 0
    let count = foregroundCount + backgroundCount
    guard count == 1 else { return count == 0 ? 0 : 1 }
    if backgroundCount == 1 { return backgroundSummary }
    let only = shared.first ?? own.first ?? duty.first ?? completion.first
    return only?.job.summary ?? 0
  }

  /// A summary of the waiting requests of background queues, like ``waitingSummary``.
  var backgroundSummary: UInt {
    guard backgroundCount == 1 else { return backgroundCount == 0 ? 0 : 1 }
    return (backgroundShared.first ?? backgroundOwn.first)?.job.summary ?? 0
  }
}
