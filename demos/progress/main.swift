// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// Converts five films. Each operation reports its progress and what it does at this moment, and logs. The
// upload of one film fails and is retried.
//
// The number of milliseconds for each frame is an argument; 1 by default. To watch the program from its first
// operation on:
//
//   opq-top -- .build/debug/demo-progress 50

import Logging
import Operations
import OperationsMonitor

struct ServerIsBusy: Error, CustomStringConvertible {
  var description: String { "the server is busy" }
}

// The handler keeps the last log lines of each operation for viewers, and passes all lines on.
LoggingSystem.bootstrap { label in
  var handler = StreamLogHandler.standardError(label: label)
  handler.logLevel = .debug
  return OperationLogHandler(wrapping: handler)
}
let logger = Logger(label: "films")
let pause = Duration.milliseconds(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1)
let queue = OperationQueue()
queue.name = "films"
queue.maxConcurrentOperationCount = 3

let frameCount = 60
let films = (1...5).map { film in
  let convert = AsyncOperation {
    logger.info("film \(film) has \(frameCount) frames")
    for frame in 1...frameCount {
      try await Task.sleep(for: pause)
      // In an asynchronous operation, `Operation.current` is right after each suspension.
      Operation.current?.reportProgress(completed: frame, of: frameCount)
      Operation.current?.reportStatus("converting frame \(frame)")
      if frame.isMultiple(of: 20) { logger.debug("frame \(frame)") }
    }
    return frameCount
  }
  convert.name = "convert film \(film)"
  convert.kind = "convert"
  let upload = RetryOperation(maximumAttempts: 3, delay: { pause * 20 * $0 }) { attempt in
    AsyncOperation {
      for part in 1...10 {
        try await Task.sleep(for: pause)
        // The retry has the progress of the attempt that runs.
        Operation.current?.reportProgress(completed: part, of: 10)
        if film == 3, attempt == 1, part == 5 {
          logger.warning("the server is busy")
          throw ServerIsBusy()
        }
      }
      return attempt
    }
  }
  upload.name = "upload film \(film)"
  upload.kind = "upload"
  upload.addDependency(convert, requires: .success)
  return (convert: convert, upload: upload)
}

// A group has the progress of its members.
let group = GroupOperation(films.flatMap { [$0.convert, $0.upload] as [Operation] })
group.name = "publish all films"
group.maxConcurrentOperationCount = 3
queue.addOperation(group)
_ = try? await group.value

for (index, film) in films.enumerated() {
  let frames = try await film.convert.value
  let attempts = try await film.upload.value
  let progress = film.convert.reportedProgress.map { "\($0.completed)/\($0.total)" } ?? "unknown"
  let words = attempts == 1 ? "" : ", uploaded after \(attempts) attempts"
  print("film \(index + 1): \(frames) frames, progress \(progress)\(words)")
}
