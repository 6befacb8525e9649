// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import OperationsCommands
import Synchronization

// The output of jobs, as log lines. All functions are called on the queue of the session.

extension SlurmSession {
  /// Reads the output files that must be read, one after the other.
  func readLogs() {
    let (requested, now) = (requestedLogs, MonitorTime.now)
    let look = work.withLock { work -> SlurmJobLogs.Look? in
      guard work.hello != nil else { return nil }
      work.logs.show(requested)
      for id in work.logs.shown where work.picture.jobs[id]?.hasOutput == false {
        let log = work.logs.note("the job has not started, so it has no output", about: id, at: now)
        if let log { work.add(log, at: now) }
      }
      let picture = work.picture
      return work.logs.nextLook { id in
        picture.jobs[id].flatMap { $0.hasOutput ? $0.shown.commandID : nil }
      }
    }
    guard let look else { return }
    Task.detached {
      let part: Result<SlurmOutputPart, SlurmAccessError>
      do throws(SlurmAccessError) {
        part = .success(try await self.slurm.output(look.file, from: look.position))
      } catch {
        part = .failure(error)
      }
      self.queue.async { self.take(part, for: look) }
    }
  }

  private func take(_ part: Result<SlurmOutputPart, SlurmAccessError>, for look: SlurmJobLogs.Look)
  {
    let now = MonitorTime.now
    work.withLock { work in
      let isOver = work.picture.jobs[look.operation]?.isOver ?? true
      if let log = work.logs.take(part, for: look, isOver: isOver, at: now) {
        work.add(log, at: now)
      }
    }
    update()
    readLogs()
  }
}

extension SlurmSession.Work {
  /// Adds log lines to the state.
  mutating func add(_ log: OperationLog, at now: MonitorTime) {
    var update = Update(time: now, queues: table.state.queues)
    update.logs = [log]
    table.apply(update, isWhole: false)
    hasNews = true
  }
}

extension SlurmPicture.Job {
  /// Whether the job has started, so that it can have written output.
  var hasOutput: Bool { report?.started != nil }
}
