// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import CursesTerminal
import Glibc
package import MonitorClient
import MonitorProtocol

/// The loop of batch mode: it gathers what the monitor tells, and prints a frame at each interval.
package struct BatchLoop {
  /// How long the first frame lets the process run, at most: with nothing to compare there would be
  /// nothing to see.
  static let firstFrameDelay = Duration.milliseconds(250)
  /// How long the first frame waits for a monitor that has nothing to tell.
  private static let patience = Duration.seconds(2)

  /// What is watched: several processes, or one of whatever kind.
  let sessions: [any MonitorSource]
  let waker: Waker
  let watch: TerminationWatch
  /// Reached when the workload has come to its end; `nil` where it has none.
  let completion: Completion?
  let options: BatchOptions

  /// Creates a loop, which has printed nothing.
  package init(
    sessions: [any MonitorSource], waker: Waker, watch: TerminationWatch, completion: Completion?,
    options: BatchOptions
  ) {
    self.sessions = sessions
    self.waker = waker
    self.watch = watch
    self.completion = completion
    self.options = options
  }

  /// Prints as many frames as wanted, or frames until the workload has finished or a signal comes. A
  /// reader that goes away ends it, too, and is no error.
  ///
  /// That the process does not answer, and that it does again, is said on standard error as well: frames go
  /// on meanwhile, and show what was known before. Where nothing more comes from what is watched, the last
  /// frame is what was known of it, and why is said on standard error. With several processes that is so
  /// for each, and the end when none is left.
  package func run() -> Ending {
    let interval = options.interval
    var pictures = sessions.indices.map { index in
      let number = sessions.count > 1 ? index + 1 : nil
      return MonitorPicture(filter: options.filter(for: number))
    }
    var printer = FramePrinter(options, isOfSeveral: sessions.count > 1)
    let start = MonitorTime.now
    var due = start + min(interval, Self.firstFrameDelay)
    var printed = 0
    var isLast = false
    while true {
      waker.wait(until: due)
      for index in pictures.indices { read(sessions[index], into: &pictures[index]) }
      if let signal = watch.takeRequest() { return .signal(signal) }
      let now = MonitorTime.now
      if completion?.isReached == true && !isLast {
        // The monitor is told of the end last of all.
        isLast = true
        due = min(due, now + Self.firstFrameDelay)
      }
      let isOver = pictures.allSatisfy { $0.endedReason != nil }
      if !isOver {
        guard now >= due else { continue }
        let isFilled = pictures.allSatisfy { $0.isFilled || $0.endedReason != nil }
        guard isFilled || now >= start + Self.patience else {
          due = now + min(interval, .milliseconds(20))
          continue
        }
      }
      let shown = pictures.indices.filter { !pictures[$0].isOverTold }
      let frames = shown.compactMap { pictures[$0].frame(at: now) }
      if !frames.isEmpty {
        let error = StandardStream.output.write(printer.text(of: frames, among: pictures))
        if error == EPIPE { return .status(0) }
        guard error == 0 else { return Program.failToWrite(error) }
        printed += 1
      }
      if frames.isEmpty, !isOver {
        return Program.fail("nothing is known of the process", status: 1)
      }
      for index in shown { tellEnd(of: &pictures[index]) }
      if isOver { return .status(1) }
      if isLast || printed == options.frameCount { return .status(0) }
      due = max(due + interval, now)
    }
  }

  private func read(_ session: any MonitorSource, into picture: inout MonitorPicture) {
    let wasSilent = picture.isSilent
    for message in session.takeMessages() { picture.take(message, at: .now) }
    guard picture.isSilent != wasSilent else { return }
    tell(
      picture.isSilent
        ? "\(name(of: picture)) does not answer: frames show what was known before"
        : "\(name(of: picture)) answers again")
  }

  /// Says once, after its last frame, why nothing more comes.
  private func tellEnd(of picture: inout MonitorPicture) {
    guard let reason = picture.endedReason else { return }
    picture.isOverTold = true
    tell(sessions.count == 1 ? reason : "\(name(of: picture)): \(reason)")
  }

  private func name(of picture: MonitorPicture) -> String {
    guard sessions.count > 1, let id = picture.processID else { return "the process" }
    return "process \(id)"
  }

  private func tell(_ sentence: String) {
    StandardStream.error.write(Program.errorLine(sentence))
  }
}
