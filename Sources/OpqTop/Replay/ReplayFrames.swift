// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorProtocol

/// Prints the frames of a recording in batch mode: a frame for each interval of the recorded time.
/// The frames are printed as fast as their reader can read them.
struct ReplayFrames {
  /// The maximum number of frames between two updates of the recording.
  private static let mostAlike = 86_400

  private let reader: RecordingReader
  private let options: BatchOptions
  private let warningKinds: Set<MonitorWarning.Kind>

  init(
    _ reader: RecordingReader, _ options: BatchOptions, _ warningKinds: Set<MonitorWarning.Kind>
  ) {
    (self.reader, self.options, self.warningKinds) = (reader, options, warningKinds)
  }

  /// Prints frames until the requested number is reached, the recording ends or a signal arrives.
  /// The last frame of the recording shows its last update. After that, an error in the recording
  /// is reported.
  func print(_ watch: TerminationWatch) -> Ending {
    var reader = reader
    var printer = FramePrinter(options)
    var state = ProcessState()
    var time = reader.start
    var next = reader.update(at: reader.snapshot(upTo: time))
    var count = 0
    while true {
      while let due = next, due.update.time <= time {
        state.apply(due.update, isWhole: due.isWhole)
        next = reader.update(at: due.end)
      }
      if let signal = watch.takeRequest() { return .signal(signal) }
      let isLast = next == nil
      if isLast, let last = state.latest?.time { time = min(time, last) }
      let error = StandardStream.output.write(printer.text(of: frame(of: state, at: time)))
      if error == StandardStream.brokenPipe { return .status(0) }
      guard error == 0 else { return Program.failToWrite(error) }
      count += 1
      if isLast || count == options.frameCount { break }
      time = time + options.interval
      // A very long time without updates is caused by a wrong time in the recording. The frames for
      // this time are skipped.
      if let next, next.update.time - time > options.interval * Self.mostAlike {
        time = next.update.time
      }
    }
    guard let fault = reader.fault, next == nil else { return .status(0) }
    return Program.fail(fault, status: 1)
  }

  private func frame(of state: ProcessState, at time: MonitorTime) -> BatchFrame {
    state.frame(of: reader.hello, at: time, filter: options.filter, warningKinds: warningKinds)
  }
}
