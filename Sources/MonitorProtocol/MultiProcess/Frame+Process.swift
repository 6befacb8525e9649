// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Frame {
  /// The frame of one of several processes with the ids that the process itself has given out.
  package var withinProcess: Frame {
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
