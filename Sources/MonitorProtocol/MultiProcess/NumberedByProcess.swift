// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An id of an operation or a queue. If a viewer watches several processes as one, the id includes
/// the number of the process.
///
/// Each process numbers its operations from 1. Therefore operations of different processes may have
/// the same id. The viewer stores the number of the process in the top eight bits of an id, because
/// no process uses these bits.
package protocol NumberedByProcess {
  /// The id as a number.
  var rawValue: UInt64 { get }
  /// Creates an id from a number.
  init(_ rawValue: UInt64)
}

extension OperationReport.ID: NumberedByProcess {}
extension QueueReport.ID: NumberedByProcess {}

extension NumberedByProcess {
  /// The number of the process, from 1 on; 0 if the id does not include a process number.
  package var processNumber: Int {
    let number = Int(rawValue >> ProcessReport.numberShift)
    return ProcessReport.numbers.contains(number) ? number : 0
  }

  /// The id without the number of the process.
  package var withinProcess: Self {
    processNumber == 0 ? self : Self(rawValue & ProcessReport.idMask)
  }

  /// Returns the id with the number of the process; `nil` if the id already uses the bits of the
  /// process number. Therefore no process can send an id of another process.
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
  /// Returns an id whose text is at least as wide as the text of each of two ids.
  package func widened(to other: Self) -> Self {
    let number = max(processNumber, other.processNumber)
    let id = max(withinProcess, other.withinProcess)
    return number == 0 ? id : id.numbered(number) ?? id
  }
}

extension BatchFrame {
  /// The frame with ids that do not include the number of a process.
  package var withinProcess: BatchFrame {
    var own = self
    own.queues = queues.map { $0.identified(as: $0.id.withinProcess) }
    for index in own.operations.indices {
      own.operations[index].id = operations[index].id.withinProcess
      own.operations[index].dependencies = operations[index].dependencies.map(\.withinProcess)
      let cause = operations[index].cancellation?.operation
      own.operations[index].cancellation?.operation = cause?.withinProcess
      own.operations[index].attempts = operations[index].attempts?.map { attempt in
        var own = attempt
        own.id = attempt.id.withinProcess
        return own
      }
    }
    for index in own.warnings.indices {
      own.warnings[index].operations = warnings[index].operations.map(\.withinProcess)
      own.warnings[index].awaited = warnings[index].awaited.map(\.withinProcess)
    }
    return own
  }
}
