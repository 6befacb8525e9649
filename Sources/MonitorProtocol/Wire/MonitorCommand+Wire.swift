// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireCommand {
  init(_ command: MonitorCommand, token: UInt32) {
    self.init()
    self.token = token
    switch command {
    case .cancel(let ids): cancel.ids = ids.map(\.rawValue)
    case .cancelWithDependents(let ids): cancelWithDependents.ids = ids.map(\.rawValue)
    case .setSuspended(let queue, let isSuspended):
      setSuspended.queue = queue.rawValue
      setSuspended.isSuspended = isSuspended
    case .setWidth(let queue, let width):
      setWidth.queue = queue.rawValue
      if let width { setWidth.width = Int64(width) }
    case .changePriority(let ids, let levels):
      changePriority.ids = ids.map(\.rawValue)
      changePriority.levels = Int32(clamping: levels)
    case .retry(let ids, let names):
      retry.ids = ids.map(\.rawValue)
      retry.names = names.map(\.wireText)
    case .setStartLimit(let queue, let limit):
      setStartLimit.queue = queue.rawValue
      if let limit { setStartLimit.limit = WireStartLimit(limit) }
    case .setHeld:
      // The viewer answers this command itself, and never sends it. The protocol has no action for it.
      break
    }
  }
}

extension MonitorCommand {
  /// Creates a command from a message; `nil` if this version does not know the action.
  init?(_ wire: WireCommand) throws(WireError) {
    switch wire.action {
    case .cancel(let operations): self = .cancel(try Self.ids(operations.ids))
    case .cancelWithDependents(let operations):
      self = .cancelWithDependents(try Self.ids(operations.ids))
    case .setSuspended(let action): self = .setSuspended(.init(action.queue), action.isSuspended)
    case .setWidth(let action):
      let width =
        action.hasWidth
        ? try checked(action.width, in: 0...WireLimits.widestQueue, "a width") : nil
      self = .setWidth(.init(action.queue), width)
    case .changePriority(let action):
      let most = WireLimits.mostPriorityLevels
      let levels = try checked(Int64(action.levels), in: -most...most, "a change of priority")
      self = .changePriority(try Self.ids(action.ids), by: levels)
    case .retry(let jobs):
      let names = jobs.names
      self = .retry(try Self.ids(jobs.ids, beside: names.count), names: names.map(\.wireText))
    case .setStartLimit(let action):
      self = .setStartLimit(
        .init(action.queue), action.hasLimit ? try Self.limit(action.limit) : nil)
    case nil: return nil
    }
  }

  private static func limit(_ wire: WireStartLimit) throws(WireError) -> QueueReport.StartLimit {
    let longest = Int(WireLimits.longestStartPeriod.saturatedNanoseconds)
    let period = try checked(
      wire.periodNanoseconds, in: 1...longest, "a start limit's period")
    return QueueReport.StartLimit(
      count: try checked(wire.count, in: 1...WireLimits.mostStartsInPeriod, "a start limit"),
      periodNanoseconds: Int64(period))
  }

  /// Returns the ids of a command that also has a number of names. Throws an error if there are too
  /// many ids and names.
  private static func ids(
    _ ids: [UInt64], beside nameCount: Int = 0
  ) throws(WireError) -> [OperationReport.ID] {
    let most = WireLimits.mostOperationsOfCommand
    guard nameCount <= most else {
      throw WireError("a command names \(nameCount) jobs; the limit is \(most)")
    }
    return try checked(ids, most: most - nameCount, "a command")
  }
}

extension WireCommandResult.Outcome {
  init(_ outcome: CommandResult.Outcome) {
    self =
      switch outcome {
      case .requested: .requested
      case .alreadyFinished: .alreadyFinished
      case .unknown, .lost: .unspecified
      case .denied: .denied
      case .notRetryable: .notRetryable
      case .refused: .unspecified
      }
  }
}

extension WireCommandResult.Refusal {
  /// Returns the reasons for a message, by ascending indexes; at most
  /// ``WireLimits/mostRefusalBytes`` of them.
  static func all(_ reasons: [Int: String]) -> [Self] {
    var refusals: [Self] = []
    var room = WireLimits.mostRefusalBytes
    for (index, reason) in reasons.sorted(by: { $0.key < $1.key }) {
      var refusal = Self()
      refusal.index = UInt32(clamping: index)
      refusal.reason = reason.wireText
      // The index, the tags and the lengths have at most twelve bytes.
      room -= refusal.reason.utf8.count + 12
      guard room >= 0 else { break }
      refusals.append(refusal)
    }
    return refusals
  }
}

extension CommandResult.Outcome {
  init(_ wire: WireCommandResult.Outcome) {
    self =
      switch wire {
      case .requested: .requested
      case .alreadyFinished: .alreadyFinished
      case .denied: .denied
      case .notRetryable: .notRetryable
      case .unspecified, .UNRECOGNIZED: .unknown
      }
  }
}
