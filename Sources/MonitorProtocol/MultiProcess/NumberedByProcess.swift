// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An id that includes the number of its process, if several processes are watched as one.
///
/// Each process numbers its operations from 1, so ids of different processes collide. The number of
/// the process is stored in the top eight bits, which no process needs.
package protocol NumberedByProcess {
  /// The number of the id.
  var rawValue: UInt64 { get }
  /// Creates an id from its number.
  init(_ rawValue: UInt64)
}

extension OperationReport.ID: NumberedByProcess {}
extension QueueReport.ID: NumberedByProcess {}

extension NumberedByProcess {
  /// The number of its process, from 1 on; 0 if one process is watched.
  package var processNumber: Int {
    let number = Int(rawValue >> ProcessReport.numberShift)
    return ProcessReport.numbers.contains(number) ? number : 0
  }

  /// The id within its process.
  package var withinProcess: Self {
    processNumber == 0 ? self : Self(rawValue & ProcessReport.idMask)
  }

  /// Returns the id with the number of its process; `nil` if the id uses these bits itself. This
  /// way, no process can send an id of another one.
  package func numbered(_ number: Int) -> Self? {
    guard rawValue <= ProcessReport.idMask else { return nil }
    return Self(UInt64(number) << ProcessReport.numberShift | rawValue)
  }
}

extension ProcessReport {
  static let numberShift: UInt64 = 56
  static let idMask: UInt64 = 1 << numberShift - 1
}

extension OperationReport.ID {
  /// Returns an id that is as wide as the wider of two ids.
  package func widened(to other: Self) -> Self {
    let number = max(processNumber, other.processNumber)
    let id = max(withinProcess, other.withinProcess)
    return number == 0 ? id : id.numbered(number) ?? id
  }
}

extension BatchFrame {
  /// The frame of one of several processes, with the ids of the process itself.
  package var withinProcess: BatchFrame {
    var own = self
    own.queues = queues.map {
      QueueReport(
        id: $0.id.withinProcess, name: $0.name, counts: $0.counts, width: $0.width,
        isSuspended: $0.isSuspended)
    }
    for index in own.operations.indices {
      own.operations[index].id = operations[index].id.withinProcess
      own.operations[index].dependencies = operations[index].dependencies.map(\.withinProcess)
    }
    for index in own.warnings.indices {
      own.warnings[index].operations = warnings[index].operations.map(\.withinProcess)
      own.warnings[index].awaited = warnings[index].awaited.map(\.withinProcess)
    }
    return own
  }
}
