// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import CursesTerminal
package import MonitorProtocol

/// The loop of batch mode. It receives the monitor's messages and prints a frame at each interval.
package struct BatchLoop {
  /// The maximum delay of the first frame after the start, and of the last frame after the end of
  /// the workload. A frame without this delay could miss changes.
  static let firstFrameDelay = Duration.milliseconds(250)
  /// The maximum time for which the first frame waits for operations to be added.
  private static let patience = Duration.seconds(2)
  /// The maximum time for which the first frame waits for the first update of a process that answers.
  private static let longestPatience = Duration.seconds(10)

  /// The watched sources: several processes, or one source of any kind.
  let sessions: [any MonitorSource]
  let waker: Waker
  let watch: TerminationWatch
  /// Whether the demo's workload has finished; `nil` if there is no workload.
  let completion: Completion?
  let options: BatchOptions
  /// Whether several processes are watched, and one of them runs on another machine.
  var namesHost = false

  /// Creates a loop that has not printed a frame yet.
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

  /// Prints frames until the requested number is reached, the workload has finished, or a signal
  /// arrives. The loop also ends if the reader closes the output, which is not an error.
  ///
  /// The loop reports on standard error when a process stops answering and when it answers again.
  /// Until the process answers again, frames show its last known state. When a source ends, the
  /// last frame shows its last known state, and the reason is printed on standard error. If several
  /// processes are watched, the loop ends after the last of them has ended.
  package func run() -> Ending {
    let interval = options.interval
    var pictures = sessions.indices.map { index in
      let number = sessions.count > 1 ? index + 1 : nil
      return MonitorPicture(filter: options.filter(for: number), order: options.order)
    }
    var printer = FramePrinter(
      options, isMultiProcess: sessions.count > 1, namesHost: sessions.count > 1 && namesHost)
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
        // The last frame has a delay, because the monitor reports the last changes later than the
        // workload reports its end.
        isLast = true
        due = min(due, now + Self.firstFrameDelay)
      }
      let isOver = pictures.allSatisfy { $0.endedReason != nil }
      if !isOver {
        guard now >= due else { continue }
        guard Self.canPrint(pictures, after: now - start) else {
          due = now + min(interval, .milliseconds(20))
          continue
        }
      }
      let shown = pictures.indices.filter {
        !pictures[$0].isEndReported && (pictures[$0].hasData || pictures[$0].isSilent)
      }
      let frames = shown.compactMap { pictures[$0].frame(at: now) }
      if !frames.isEmpty {
        let error = StandardStream.output.write(printer.text(of: frames, among: pictures))
        if error == StandardStream.brokenPipe { return .status(0) }
        guard error == 0 else { return Program.failToWrite(error) }
        printed += 1
      }
      if frames.isEmpty, !isOver {
        return Program.fail("the process has sent no data", status: 1)
      }
      for index in shown { reportEnd(of: &pictures[index]) }
      if isOver { return .status(1) }
      if isLast || printed == options.frameCount { return .status(0) }
      due = max(due + interval, now)
    }
  }

  /// Returns whether the first frame can be printed.
  ///
  /// - Parameters:
  ///   - pictures: The states of the watched processes.
  ///   - time: The time since the start of the loop.
  /// - Returns: Whether the processes have operations, or the time for which the frame waits is over.
  static func canPrint(_ pictures: [MonitorPicture], after time: Duration) -> Bool {
    let open = pictures.filter { $0.endedReason == nil }
    if time >= longestPatience || open.allSatisfy(\.isFilled) { return true }
    return time >= patience && open.allSatisfy { $0.hasData || $0.isSilent }
  }

  private func read(_ session: any MonitorSource, into picture: inout MonitorPicture) {
    let wasSilent = picture.isSilent
    for message in session.takeMessages() { picture.take(message, at: .now) }
    guard picture.isSilent != wasSilent else { return }
    report(
      picture.isSilent
        ? "\(name(of: picture)) does not answer; frames show its last known state"
        : "\(name(of: picture)) answers again")
  }

  /// Reports the reason why no further messages of a process arrive. It is called after the last
  /// frame, once for each process.
  private func reportEnd(of picture: inout MonitorPicture) {
    guard let reason = picture.endedReason else { return }
    picture.isEndReported = true
    report(sessions.count == 1 ? reason : "\(name(of: picture)): \(reason)")
  }

  private func name(of picture: MonitorPicture) -> String {
    guard sessions.count > 1, let id = picture.processID else { return "the process" }
    return "process \(id)" + (picture.host.map { " on \($0)" } ?? "")
  }

  private func report(_ sentence: String) {
    StandardStream.error.write(Program.errorLine(sentence))
  }
}
