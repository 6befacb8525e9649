// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireWarning {
  init(_ warning: MonitorWarning) {
    self.init()
    kind = Kind(warning.kind)
    operations = warning.operations.prefix(MonitorWarning.operationLimit).map(\.rawValue)
    title = warning.title.wireText
    awaited = warning.awaited.prefix(MonitorWarning.operationLimit).map(\.rawValue)
    awaitedTitle = warning.awaitedTitle.wireText
    if let id = warning.queue { queue = id.rawValue }
    count = Int64(warning.count)
    limit = Int64(warning.limit)
    if let time = warning.since { since = time.nanoseconds }
    if let duration = warning.usual { usual = duration.saturatedNanoseconds }
  }
}

extension MonitorWarning {
  /// Creates a warning from a message; `nil` if this version does not know the kind.
  init?(_ wire: WireWarning) {
    guard let kind = Kind(wire.kind) else { return nil }
    self.init(
      kind: kind, operations: wire.operations.map { .init($0) }, title: wire.title.wireText,
      awaited: wire.awaited.map { .init($0) }, awaitedTitle: wire.awaitedTitle.wireText,
      queue: wire.hasQueue ? .init(wire.queue) : nil, count: Int(wireCount: wire.count),
      since: wire.hasSince ? MonitorTime(wire: wire.since) : nil,
      usual: wire.hasUsual ? Duration(wire: wire.usual) : nil,
      limit: Int(wireCount: wire.limit))
  }
}

extension WireWarning.Kind {
  init(_ kind: MonitorWarning.Kind) {
    self =
      switch kind {
      case .cycle: .cycle
      case .slotDeadlock: .slotDeadlock
      case .neverEnqueuedDependency: .neverEnqueuedDependency
      case .cancelNotHonoured: .cancelNotHonoured
      case .notReadyWithMetDependencies: .notReadyWithMetDependencies
      case .mainQueueBlocked: .mainQueueBlocked
      case .finishedWithoutStart: .finishedWithoutStart
      case .priorityInversion: .priorityInversion
      case .suspendedWithReady: .suspendedWithReady
      case .readyButNotStarted: .readyButNotStarted
      case .slow: .slow
      case .fanOut: .fanOut
      case .historyLost: .historyLost
      case .leaking: .leaking
      case .threadLimit: .threadLimit
      }
  }
}

extension MonitorWarning.Kind {
  init?(_ wire: WireWarning.Kind) {
    switch wire {
    case .cycle: self = .cycle
    case .slotDeadlock: self = .slotDeadlock
    case .neverEnqueuedDependency: self = .neverEnqueuedDependency
    case .cancelNotHonoured: self = .cancelNotHonoured
    case .notReadyWithMetDependencies: self = .notReadyWithMetDependencies
    case .mainQueueBlocked: self = .mainQueueBlocked
    case .finishedWithoutStart: self = .finishedWithoutStart
    case .priorityInversion: self = .priorityInversion
    case .suspendedWithReady: self = .suspendedWithReady
    case .readyButNotStarted: self = .readyButNotStarted
    case .slow: self = .slow
    case .fanOut: self = .fanOut
    case .historyLost: self = .historyLost
    case .leaking: self = .leaking
    case .threadLimit: self = .threadLimit
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }
}
