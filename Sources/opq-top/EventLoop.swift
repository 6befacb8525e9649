// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import Glibc
import MonitorProtocol
import OperationsMonitor

/// The loop of the dashboard: it waits for keys, signals and what the monitor tells, lets the
/// dashboard answer, and draws. Everything of the terminal happens on its thread.
struct EventLoop: ~Copyable {
  private var terminal: Terminal
  private var signals: JobSignals
  private var dashboard: Dashboard
  private let session: any MonitorSource
  private let waker: Waker
  private let watch: TerminationWatch
  private var pacer = FramePacer()
  /// When an incomplete key sequence is taken for what it is; `nil` where there is none.
  private var inputDeadline: MonitorTime?
  /// When the picture changes by itself; `nil` where it does not.
  private var nextTick: MonitorTime?
  private var ending: Ending?
  /// Reached when the workload has come to its end; `nil` where it has none.
  private let completion: Completion?
  /// Whether nothing was left to do in any queue at the last update.
  private var isDrained = false
  /// `nil` where they are not to be told.
  private var frameTimes: FrameTimes?

  /// Creates a loop, which has not drawn anything.
  init(
    terminal: consuming Terminal, signals: consuming JobSignals, dashboard: Dashboard,
    session: any MonitorSource, waker: Waker, watch: TerminationWatch, completion: Completion?,
    tellsFrameTimes: Bool
  ) {
    self.terminal = terminal
    self.signals = signals
    self.dashboard = dashboard
    self.session = session
    self.waker = waker
    self.watch = watch
    self.completion = completion
    frameTimes = tellsFrameTimes ? FrameTimes() : nil
  }

  /// Runs until the user quits, a signal ends it, or the terminal is gone; gives the terminal back.
  ///
  /// - Returns: How it ended, and the frame times where they are to be told.
  consuming func run() -> (Ending, frameTimes: String?) {
    takeMonitorMessages()
    resize()
    while true {
      drawIfDue()
      if let ending { return (ending, frameTimes?.text) }
      waitForEvents()
    }
  }

  private mutating func drawIfDue() {
    let now = MonitorTime.now
    if let tick = nextTick, tick <= now {
      nextTick = nil
      pacer.noteReaction()
    }
    guard ending == nil, let due = pacer.nextFrame(after: now), due <= now else { return }
    frameTimes?.begin()
    deliver(.tick(now))
    terminal.present(dashboard.view(size: terminal.size, capabilities: terminal.capabilities))
    pacer.drew(at: now)
    nextTick = dashboard.nextTick(after: now)
    frameTimes?.end()
    frameTimes?.endFrame()
  }

  private mutating func waitForEvents() {
    let now = MonitorTime.now
    let moment = [pacer.nextFrame(after: now), inputDeadline, nextTick].compactMap { $0 }.min()
    var entries = [terminal.descriptor, waker.descriptor, signals.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let timeout = MonitorTime.pollTimeout(from: now, until: moment)
    guard poll(&entries, nfds_t(entries.count), timeout) >= 0 else { return }
    if entries[1].revents != 0 { takeMonitorMessages() }
    if entries[2].revents != 0 { takeSignals() }
    takeInput(entries[0].revents)
  }

  private mutating func takeMonitorMessages() {
    waker.answer()
    if let signal = watch.takeRequest() { ending = .signal(signal) }
    var messages = session.takeMessages()
    for case .update(let update) in messages { isDrained = update.queues.allSatisfy(\.isDrained) }
    // Not before the update that shows the last operation finished.
    if isDrained, completion?.isReached == true {
      messages.append(.ended(reason: "the demo has finished"))
    }
    guard !messages.isEmpty else { return }
    frameTimes?.begin()
    deliver(.tick(.now))
    for message in messages {
      deliver(.monitor(message))
      if case .update = message { pacer.noteNews() } else { pacer.noteReaction() }
    }
    frameTimes?.end()
  }

  private mutating func takeSignals() {
    while let event = signals.next() {
      switch event {
      case .resized:
        terminal.updateSize()
        resize()
      case .stopRequested:
        suspend()
      case .continued:
        terminal.reclaim()
        resize()
      }
    }
  }

  private mutating func takeInput(_ events: Int16) {
    var inputs: [Input] = []
    if events & Int16(POLLIN) != 0 {
      switch terminal.readInput() {
      case .inputs(let read): inputs = read
      case .gone: ending = ending ?? .status(1)
      }
      inputDeadline = terminal.inputPatience.map { .now + $0 }
    } else if events != 0 {
      ending = ending ?? .status(1)
    } else if let deadline = inputDeadline, deadline <= .now {
      inputs = terminal.expireInput()
      inputDeadline = nil
    }
    guard !inputs.isEmpty else { return }
    deliver(.tick(.now))
    for input in inputs where ending == nil { deliver(.input(input)) }
    pacer.noteInput(at: .now)
  }

  private mutating func deliver(_ message: Message) {
    for effect in dashboard.reduce(message) { perform(effect) }
    pacer.interval = dashboard.refreshInterval
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .send(let command): session.send(command)
    case .watch(let interest): session.watch(interest)
    case .export(let frame): deliver(.exported(ExportFile.write(frame)))
    case .findProcesses: deliver(.found([]))
    case .open: deliver(.openFailed(reason: "only the demo can be watched"))
    case .quit: ending = ending ?? .status(0)
    case .interrupt: ending = ending ?? .signal(SIGINT)
    case .suspendProgram: suspend()
    case .repaint: terminal.repaintAll()
    case .bell: terminal.ringBell()
    }
  }

  private mutating func suspend() {
    var isAskedAgain = false
    repeat {
      terminal.suspend()
      // That it went on, and with which size, is known; what asks to stop has come after that,
      // because going on takes back what asked before.
      isAskedAgain = false
      while let event = signals.next() { isAskedAgain = isAskedAgain || event == .stopRequested }
    } while isAskedAgain
    resize()
  }

  private mutating func resize() {
    deliver(.resized(terminal.size))
    pacer.noteInput(at: .now)
  }
}

extension QueueReport {
  /// Whether it has no unfinished operation.
  var isDrained: Bool { counts.waiting + counts.ready + counts.executing == 0 }
}
