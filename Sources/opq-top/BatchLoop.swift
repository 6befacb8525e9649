// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Glibc
import MonitorProtocol
import OperationsMonitor

/// The loop of batch mode: it gathers what the monitor tells, and prints a frame at each interval.
struct BatchLoop {
  /// How long the first frame lets the process run, at most: with nothing to compare there would be
  /// nothing to see.
  static let firstFrameDelay = Duration.milliseconds(250)
  /// How long the first frame waits for a monitor that has nothing to tell.
  private static let patience = Duration.seconds(2)

  let session: any MonitorSource
  let waker: Waker
  let watch: TerminationWatch
  /// Reached when the workload has come to its end; `nil` where it has none.
  let completion: Completion?
  let options: BatchOptions

  /// Prints as many frames as wanted, or frames until the workload has finished or a signal comes. A
  /// reader that goes away ends it, too, and is no error.
  ///
  /// That the process does not answer, and that it does again, is said on standard error as well: frames go
  /// on meanwhile, and show what was known before. Where nothing more comes from what is watched, the last
  /// frame is what was known of it, and why is said on standard error.
  func run() -> Ending {
    let interval = options.interval
    var picture = MonitorPicture(filter: options.filter)
    var printer = FramePrinter(options)
    let start = MonitorTime.now
    var due = start + min(interval, Self.firstFrameDelay)
    var printed = 0
    var isLast = false
    while true {
      waker.wait(until: due)
      let wasSilent = picture.isSilent
      for message in session.takeMessages() { picture.take(message, at: .now) }
      if picture.isSilent != wasSilent { tell(isSilent: picture.isSilent) }
      if let signal = watch.takeRequest() { return .signal(signal) }
      let now = MonitorTime.now
      if completion?.isReached == true && !isLast {
        // The monitor is told of the end last of all.
        isLast = true
        due = min(due, now + Self.firstFrameDelay)
      }
      if picture.endedReason == nil {
        guard now >= due else { continue }
        guard picture.isFilled || now >= start + Self.patience else {
          due = now + min(interval, .milliseconds(20))
          continue
        }
      }
      guard let frame = picture.frame(at: now) else {
        return Program.fail(picture.endedReason ?? "nothing is known of the process", status: 1)
      }
      let error = StandardStream.output.write(printer.text(of: frame))
      if error == EPIPE { return .status(0) }
      guard error == 0 else { return Program.failToWrite(error) }
      printed += 1
      if let reason = picture.endedReason { return Program.fail(reason, status: 1) }
      if isLast || printed == options.frameCount { return .status(0) }
      due = max(due + interval, now)
    }
  }

  private func tell(isSilent: Bool) {
    StandardStream.error.write(
      Program.errorLine(
        isSilent
          ? "the process does not answer: frames show what was known before"
          : "the process answers again"))
  }
}
