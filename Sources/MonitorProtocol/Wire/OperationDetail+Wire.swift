// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension WireDetail {
  init(_ detail: OperationDetail) {
    self.init()
    id = detail.id.rawValue
    qualityOfService = QualityOfService(detail.qualityOfService)
    reasons = detail.reasons.map { reason in
      var wire = Reason()
      wire.kind = Reason.Kind(reason.kind)
      wire.sentence = reason.sentence.wireText
      wire.operations = reason.operations.map(\.rawValue)
      return wire
    }
    awaitedOperations = detail.awaitedOperations.map(\.rawValue)
    awaitedQueues = detail.awaitedQueues.map(\.rawValue)
  }
}

extension OperationDetail {
  init(_ wire: WireDetail) {
    self.init(
      id: .init(wire.id), qualityOfService: OperationQualityOfService(wire.qualityOfService),
      reasons: wire.reasons.compactMap { reason in
        Reason.Kind(reason.kind).map {
          Reason(
            kind: $0, sentence: reason.sentence.wireText,
            operations: reason.operations.prefix(MonitorWarning.operationLimit).map { .init($0) })
        }
      }, awaitedOperations: wire.awaitedOperations.map { .init($0) },
      awaitedQueues: wire.awaitedQueues.map { .init($0) })
  }
}

extension WireDetail.QualityOfService {
  init(_ quality: OperationQualityOfService) {
    self =
      switch quality {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default: .default
      }
  }
}

extension OperationQualityOfService {
  init(_ wire: WireDetail.QualityOfService) {
    self =
      switch wire {
      case .userInteractive: .userInteractive
      case .userInitiated: .userInitiated
      case .utility: .utility
      case .background: .background
      case .default, .UNRECOGNIZED: .default
      }
  }
}

extension WireOperationQuality {
  /// Returns the messages about the qualities of service of operations, in a fixed order, so that equal updates have
  /// equal bytes. Operations without a quality are left out.
  static func messages(about reports: [OperationReport]) -> [WireOperationQuality] {
    var operations: [OperationQualityOfService: [UInt64]] = [:]
    for report in reports where report.qualityOfService != .default {
      operations[report.qualityOfService, default: []].append(report.id.rawValue)
    }
    return OperationQualityOfService.allCases.compactMap { quality in
      operations[quality].map { ids in
        var wire = WireOperationQuality()
        wire.value = WireDetail.QualityOfService(quality)
        wire.operations = ids
        return wire
      }
    }
  }
}

extension WireDetail.Reason.Kind {
  init(_ kind: OperationDetail.Reason.Kind) {
    self =
      switch kind {
      case .notInQueue: .notInQueue
      case .queueSuspended: .queueSuspended
      case .unmetDependencies: .unmetDependencies
      case .notReadyByItself: .notReadyByItself
      case .excluded: .excluded
      case .noFreeSlot: .noFreeSlot
      case .notStartedYet: .notStartedYet
      case .barrierAhead: .barrierAhead
      case .dependenciesNeverAdded: .dependenciesNeverAdded
      case .delayed: .delayed
      case .startLimitReached: .startLimitReached
      }
  }
}

extension OperationDetail.Reason.Kind {
  init?(_ wire: WireDetail.Reason.Kind) {
    switch wire {
    case .notInQueue: self = .notInQueue
    case .queueSuspended: self = .queueSuspended
    case .unmetDependencies: self = .unmetDependencies
    case .notReadyByItself: self = .notReadyByItself
    case .excluded: self = .excluded
    case .noFreeSlot: self = .noFreeSlot
    case .notStartedYet: self = .notStartedYet
    case .barrierAhead: self = .barrierAhead
    case .dependenciesNeverAdded: self = .dependenciesNeverAdded
    case .delayed: self = .delayed
    case .startLimitReached: self = .startLimitReached
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }
}
