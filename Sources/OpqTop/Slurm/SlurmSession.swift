// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorClient
import MonitorProtocol
import OperationsCommands
import Synchronization

// The library has another type of this name.
import struct MonitorProtocol.CommandResult

/// A session that shows the jobs of a Slurm cluster. The dashboard uses it like a session with a process.
///
/// The session calls Slurm's commands from tasks. It decides on its dispatch queue what it calls and what the viewer
/// receives. Its methods can be called on any thread, and only ``end()`` blocks. ``invalidate()`` must be called.
final class SlurmSession: MonitorSource {
  /// What the viewer's thread and the dispatch queue share.
  struct Shared {
    var mailbox: Mailbox
    /// Whether the viewer has requested data and has not received an update since then.
    var isAsked = true
    /// The function to call after the first answer of Slurm, or after the first call has failed.
    var whenGreeted: (@Sendable (Result<Hello, AttachError>) -> Void)?
    var greeting: Result<Hello, AttachError>?
    /// The task that carries out the orders; `nil` until the initializer ends.
    var changing: Task<Void, Never>?
  }

  /// What only the dispatch queue uses.
  struct Work {
    var picture: SlurmPicture
    var table = ReplayTable()
    var polling = SlurmPolling()
    var logs = SlurmJobLogs()
    var hello: Hello?
    /// The time since which Slurm has not answered; `nil` if it answers.
    var lostSince: MonitorTime?
    /// Whether the viewer has received the message that Slurm does not answer.
    var isSilent = false
    /// Whether the viewer needs an update because the state has changed.
    var hasNews = false
    /// The number of the last scheduled wake-up. Earlier wake-ups have no effect.
    var waking = 0
  }

  let place: SlurmPlace
  let slurm: SlurmWatch
  private let users: SlurmWatch.Users
  private let isReadOnly: Bool
  private let endsOnLoss: Bool
  private let wake: @Sendable () -> Void
  let queue = DispatchQueue(label: "opq-slurm")
  let work: Mutex<Work>
  private let shared: Mutex<Shared>
  /// The orders of the viewer. They are carried out one after the other, because Slurm does not keep the order of calls
  /// that run at the same time.
  private let orders: AsyncStream<SlurmOrder>.Continuation
  /// The end of all calls after ``invalidate()``.
  private let ending = DispatchGroup()

  /// The time for which the end of the session waits for changes of jobs.
  private static let patience = Duration.seconds(1)
  /// The maximum time for which ``end()`` blocks.
  private static let longestEnd = DispatchTimeInterval.milliseconds(1_800)

  /// Creates a session and begins to call Slurm.
  ///
  /// - Parameters:
  ///   - place: The place where Slurm's commands are called.
  ///   - users: The users whose jobs are shown.
  ///   - isReadOnly: Whether commands of the viewer are refused.
  ///   - endsOnLoss: Whether the viewer ends when it receives the message that the connection was lost. If so, the
  ///     session sends the message that Slurm is silent instead, because Slurm may answer again.
  ///   - interest: The data that the viewer requests at first.
  ///   - wake: A function that is called on any thread when there are messages.
  init(
    _ place: SlurmPlace, users: SlurmWatch.Users, isReadOnly: Bool, endsOnLoss: Bool,
    interest: Interest, wake: @escaping @Sendable () -> Void
  ) {
    self.place = place
    self.users = users
    self.isReadOnly = isReadOnly
    self.endsOnLoss = endsOnLoss
    self.wake = wake
    slurm = SlurmWatch(commandPrefix: place.commandPrefix)
    shared = Mutex(Shared(mailbox: Mailbox(interest: interest)))
    work = Mutex(
      Work(
        picture: SlurmPicture(
          showsUsers: users != .own, secondsSince1970AtZero: MonitorTime.secondsSince1970AtZero)))
    let (stream, orders) = AsyncStream<SlurmOrder>.makeStream()
    self.orders = orders
    shared.withLock {
      $0.changing = Task.detached { for await order in stream { await self.carryOut(order) } }
    }
    queue.async { self.run() }
  }

  /// Calls a function with the greeting after the first answer of Slurm, or with the error if the first call has
  /// failed. The function is called once, on any thread.
  func whenGreeted(_ body: @escaping @Sendable (Result<Hello, AttachError>) -> Void) {
    let greeting = shared.withLock { shared in
      if shared.greeting == nil { shared.whenGreeted = body }
      return shared.greeting
    }
    if let greeting { body(greeting) }
  }

  // MARK: The viewer

  func takeMessages() -> [MonitorMessage] {
    let messages = shared.withLock { $0.mailbox.takeMessages() }
    // While the mailbox contains an update, the session posts no further update.
    if messages.contains(where: \.isUpdate) { queue.async { self.update() } }
    return messages
  }

  func watch(_ interest: Interest) {
    shared.withLock {
      $0.mailbox.interest = interest
      $0.isAsked = true
    }
    queue.async {
      self.readLogs()
      self.update()
    }
  }

  func send(_ command: MonitorCommand) { queue.async { self.carryOut(command) } }

  /// Ends the session. The calls that change nothing end at once. The commands that were sent are carried out, but
  /// after one second their calls are ended too.
  func invalidate() {
    let changing = shared.withLock { shared -> Task<Void, Never>? in
      _ = shared.mailbox.invalidate()
      shared.whenGreeted = nil
      defer { shared.changing = nil }
      return shared.changing
    }
    guard let changing else { return }
    ending.enter()
    queue.async { self.orders.finish() }
    Task.detached {
      let timer = Task {
        try await Task.sleep(for: Self.patience)
        await self.slurm.stopChanging()
      }
      await self.slurm.stopReading()
      await changing.value
      timer.cancel()
      self.ending.leave()
    }
  }

  /// Ends the session, and waits until all processes of its calls have ended, for at most two seconds.
  func end() {
    invalidate()
    _ = ending.wait(timeout: .now() + Self.longestEnd)
  }

  // MARK: On the queue

  /// Begins the call that is due, and schedules the next wake-up.
  func run() {
    guard !shared.withLock({ $0.mailbox.isInvalid }) else { return }
    let now = MonitorTime.now
    let (begins, asksCluster, silence, next) = work.withLock { work in
      let begins = work.polling.begin(at: now)
      let silence = work.polling.silence(at: now)
      if silence != nil, work.hello != nil { work.isSilent = true }
      work.waking += 1
      let moment = work.polling.nextStart(at: now) ?? now + SlurmPolling.shortestInterval
      return (begins, work.hello == nil, work.isSilent ? silence : nil, (moment, work.waking))
    }
    if let silence { post(.silent(for: silence)) }
    if begins { Task.detached { await self.ask(asksCluster: asksCluster) } }
    let (moment, waking) = next
    let delay = max(.zero, moment - now)
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay.saturatedNanoseconds))) {
      if self.work.withLock({ $0.waking == waking }) { self.run() }
    }
  }

  private func ask(asksCluster: Bool) async {
    let answer: Result<SlurmWatch.Answer, SlurmAccessError>
    do throws(SlurmAccessError) {
      answer = .success(try await slurm.jobs(of: users, asksCluster: asksCluster))
    } catch {
      answer = .failure(error)
    }
    queue.async { self.take(answer) }
  }

  private func take(_ answer: Result<SlurmWatch.Answer, SlurmAccessError>) {
    let now = MonitorTime.now
    switch answer {
    case .success(let answer): take(answer, at: now)
    case .failure(let error):
      let isGreeted = work.withLock { work in
        work.polling.end()
        return work.hello != nil
      }
      guard isGreeted else {
        return greet(.failure(AttachError(.lost, "\(place.sentenceStart): \(error)")))
      }
      noteLoss(error, at: now)
    }
    run()
  }

  private func take(_ answer: SlurmWatch.Answer, at now: MonitorTime) {
    let (hello, isNew, wasSilent) = work.withLock { work in
      work.polling.end()
      let news = work.picture.take(answer.jobs, at: now)
      let isNew = work.hello == nil || (work.lostSince != nil && !endsOnLoss)
      var hello = work.hello ?? self.hello(ofCluster: answer.cluster, at: now)
      hello.totalCount = work.picture.totalCount
      if isNew {
        // After a new greeting, the viewer discards the state from before the loss.
        work.table.reset()
        work.logs.show([])
        work.table.apply(work.picture.whole(at: now), isWhole: true)
      } else {
        work.table.apply(news, isWhole: false)
      }
      let wasSilent = work.isSilent
      (work.hello, work.lostSince, work.isSilent, work.hasNews) = (hello, nil, false, true)
      work.logs.noteNews()
      return (hello, isNew, wasSilent)
    }
    if wasSilent { post(.silent(for: .zero)) }
    if isNew { post(.hello(hello)) }
    greet(.success(hello))
    readLogs()
    update()
  }

  private func noteLoss(_ error: SlurmAccessError, at now: MonitorTime) {
    let (since, isNew) = work.withLock { work in
      let isNew = work.lostSince == nil
      let since = work.lostSince ?? now
      work.lostSince = since
      if endsOnLoss { work.isSilent = true }
      return (since, isNew)
    }
    if endsOnLoss {
      post(.silent(for: max(.seconds(1), now - since)))
    } else if isNew {
      post(.disconnected(reason: "\(place.sentenceStart): \(error)"))
    }
  }

  private func hello(ofCluster cluster: String, at now: MonitorTime) -> Hello {
    var hello = Hello(
      processName: cluster.isEmpty ? "Slurm" : "Slurm \(cluster)", processID: 0,
      isReadOnly: isReadOnly, anchor: now,
      anchorSecondsSince1970: MonitorTime.secondsSince1970AtZero + Double(now.nanoseconds) / 1e9,
      processStarted: now)
    hello.bootID = ProcessStart.bootID
    hello.host = place.login ?? ""
    hello.canHold = true
    return hello
  }

  private func greet(_ greeting: Result<Hello, AttachError>) {
    let body = shared.withLock { shared -> (@Sendable (Result<Hello, AttachError>) -> Void)? in
      guard shared.greeting == nil else { return nil }
      shared.greeting = greeting
      defer { shared.whenGreeted = nil }
      return shared.whenGreeted
    }
    body?(greeting)
  }

  /// Sends an update if the viewer needs one and has received the previous one.
  func update() {
    let (interest, isAsked, isReady) = shared.withLock {
      ($0.mailbox.interest, $0.isAsked, $0.mailbox.updateCount == 0 && !$0.mailbox.isInvalid)
    }
    guard isReady else { return }
    let now = MonitorTime.now
    let update = work.withLock { work -> Update? in
      guard work.hello != nil, work.hasNews || isAsked else { return nil }
      work.hasNews = false
      var update = work.table.takeUpdate(for: interest, at: now)
      if let detail = update?.detail, let reason = work.picture.reason(of: detail.id, at: now) {
        update?.detail?.reasons = [
          OperationDetail.Reason(
            kind: detail.reasons.first?.kind ?? .notStartedYet, sentence: reason,
            operations: detail.reasons.first?.operations ?? [])
        ]
      }
      return update
    }
    guard let update else { return }
    shared.withLock { if $0.mailbox.interest == interest { $0.isAsked = false } }
    post(.update(update))
  }

  func post(_ message: MonitorMessage) {
    if shared.withLock({ $0.mailbox.post(message) }) { wake() }
  }

  /// The operations whose log lines the viewer requests.
  var requestedLogs: Set<OperationReport.ID> {
    switch shared.withLock({ $0.mailbox.interest.logs }) {
    case .all: []
    case .operations(let ids): ids
    }
  }

  // MARK: Commands

  private func carryOut(_ command: MonitorCommand) {
    if isReadOnly { return post(.commandResult(CommandResult(command, .denied))) }
    let order = work.withLock { work in
      SlurmOrder(command, of: work.picture) { work.table.state.operations.dependents(of: $0) }
    }
    guard let order else { return post(.commandResult(SlurmOrder.refusal(of: command))) }
    guard !order.jobs.isEmpty else { return post(.commandResult(order.result([]))) }
    orders.yield(order)
  }

  private func carryOut(_ order: SlurmOrder) async {
    let results = await slurm.change(order.jobs, order.change)
    queue.async {
      self.work.withLock { $0.polling.noteCommand() }
      self.post(.commandResult(order.result(results)))
      self.run()
    }
  }
}
