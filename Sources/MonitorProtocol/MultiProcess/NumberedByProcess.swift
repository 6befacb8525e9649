// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An id that says, where several processes are watched as one, which of them it is of.
///
/// A process gives out ids from 1 on, and other processes the same ones. The number of the process is
/// in the top eight bits, which no process ever needs.
package protocol NumberedByProcess {
  /// The number as it is passed on.
  var rawValue: UInt64 { get }
  /// Creates an id from its number.
  init(_ rawValue: UInt64)
}

extension OperationReport.ID: NumberedByProcess {}
extension QueueReport.ID: NumberedByProcess {}

extension NumberedByProcess {
  /// Which process it is of, from 1 on; 0 where one process is watched.
  package var processNumber: Int {
    let number = Int(rawValue >> ProcessReport.numberShift)
    return ProcessReport.numbers.contains(number) ? number : 0
  }

  /// The id within its process.
  package var withinProcess: Self {
    processNumber == 0 ? self : Self(rawValue & ProcessReport.idMask)
  }

  /// The id as that of the process with this number; `nil` where it has no room for that, so that no
  /// process can name what is another one's.
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
  /// An id that takes as much room as this one and another one.
  package func widened(to other: Self) -> Self {
    let number = max(processNumber, other.processNumber)
    let id = max(withinProcess, other.withinProcess)
    return number == 0 ? id : id.numbered(number) ?? id
  }
}

extension BatchFrame {
  /// The frame of one of several processes with the ids that the process itself has given out.
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
