// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
package import CursesTerminal
package import Dashboard
import MonitorClient
package import MonitorProtocol

/// The loop of the dashboard. It waits for keys, signals and messages of the monitor, passes them
/// to the dashboard, and draws. Only the loop's thread accesses the terminal.
package struct DashboardLoop: ~Copyable {
  private var terminal: Terminal
  private var signals: JobSignals
  private var dashboard: Dashboard
  /// The watched source; `nil` until the user chooses one.
  private var watched: WatchedSource?
  private let opener: SourceOpener
  private let waker: Waker
  private let watch: TerminationWatch
  private var pacer = FramePacer()
  /// The time at which the terminal no longer waits for the rest of an input; `nil` if it does not
  /// wait for one.
  private var inputDeadline: MonitorTime?
  /// The time at which the display changes without a message; `nil` if it does not change.
  private var nextTick: MonitorTime?
  private var ending: Ending?
  /// The search that the last keys have requested; `nil` if there is none.
  private var pendingSearch: OutputSearch?
  /// The difference between the watched process's clock and this process's clock.
  private var clockLead = Duration.zero
  /// Whether all operations had finished at the last update.
  private var isDrained = false
  /// Whether the dashboard knows that all jobs of the watched run have ended.
  private var haveJobsEnded = false
  /// The measured times of frames; `nil` if the user does not request them.
  private var frameTimes: FrameTimes?
  /// The reader of the output of jobs; `nil` if the source is not a run.
  private var outputReader: OutputReader?
  /// Whether the opener searches for processes, for the picker.
  private var isSearching = false
  /// The recorder of the source; `nil` if nothing is recorded, or if the recorder's failure was
  /// already reported.
  private var recorder: Recorder?
  /// The file of the settings; `nil` if they cannot be saved.
  private let settingsFile: SettingsFile?

  /// Creates a loop that has not drawn a frame yet.
  package init(
    terminal: consuming Terminal, signals: consuming JobSignals, dashboard: Dashboard,
    watched: WatchedSource?, opener: SourceOpener, waker: Waker, watch: TerminationWatch,
    reportsFrameTimes: Bool, recorder: Recorder? = nil, settingsFile: SettingsFile? = nil
  ) {
    self.terminal = terminal
    self.signals = signals
    self.dashboard = dashboard
    self.watched = watched
    outputReader = watched?.run.map { OutputReader($0.output) }
    self.opener = opener
    self.waker = waker
    self.watch = watch
    frameTimes = reportsFrameTimes ? FrameTimes() : nil
    self.recorder = recorder
    self.settingsFile = settingsFile
  }

  /// Runs until the user quits, a signal ends the program, or the terminal is lost. Before it
  /// returns, it restores the terminal.
  ///
  /// - Returns: How the process must end, the last watched source, and the frame times if the user
  ///   requests them.
  package consuming func run() -> (Ending, watched: WatchedSource?, frameTimes: String?) {
    terminal.setMouse(dashboard.usesMouse)
    takeMonitorMessages()
    resize()
    while true {
      drawIfDue()
      if let ending { return (ending, watched, frameTimes?.text) }
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
    deliver(.tick(now + clockLead))
    if let status = watched?.replay?.status(at: now) { deliver(.replay(status)) }
    let frame = dashboard.frame(size: terminal.size, capabilities: terminal.capabilities)
    terminal.present(frame.grid)
    dashboard.noteShown(frame)
    pacer.drew(at: now)
    nextTick = dashboard.nextTick(after: now + clockLead).map { $0 - clockLead }
    frameTimes?.end()
    frameTimes?.endFrame()
  }

  private mutating func waitForEvents() {
    let now = MonitorTime.now
    let moments = [pacer.nextFrame(after: now), inputDeadline, nextTick, nextLook(after: now)]
    let moment = moments.compactMap { $0 }.min()
    var entries = [terminal.descriptor, waker.descriptor, signals.descriptor].map {
      cmonitor_waiting(file: $0, is_readable: false, is_ready: false)
    }
    let timeout = MonitorTime.pollTimeout(from: now, until: moment)
    guard cmonitor_wait(&entries, entries.count, timeout) >= 0 else { return }
    if entries[1].is_ready { takeMonitorMessages() }
    noteEndOfJobs()
    if entries[2].is_ready { takeSignals() }
    takeInput(entries[0])
  }

  private mutating func takeMonitorMessages() {
    waker.answer()
    if let signal = watch.takeRequest() { ending = .signal(signal) }
    for answer in opener.takeAnswers() { take(answer) }
    if let failure = recorder?.outcome.failure {
      recorder = nil
      deliver(.recordingFailed(reason: "the recording stopped: \(failure)"))
      pacer.noteReaction()
    }
    guard let watched else { return }
    var messages = watched.session.takeMessages()
    if let run = watched.run { messages = messages.map { run.explained($0) } }
    for case .update(let update) in messages { isDrained = update.queues.allSatisfy(\.isDrained) }
    // The loop ends only after an update has shown the last operation as finished.
    if isDrained, watched.completion?.isReached == true {
      messages.append(.ended(reason: "the demo has finished"))
    }
    if let replay = watched.replay {
      deliver(.replay(replay.status(at: .now)))
      pacer.noteReaction()
    } else {
      for case .hello(let hello) in messages { clockLead = hello.clockLead(at: .now) }
    }
    guard !messages.isEmpty else { return }
    frameTimes?.begin()
    deliver(.tick(.now + clockLead))
    for message in messages {
      deliver(.monitor(message))
      if case .update = message { pacer.noteNews() } else { pacer.noteReaction() }
    }
    frameTimes?.end()
  }

  /// Tells the dashboard if all jobs of the watched run have ended, or if jobs are executed again.
  private mutating func noteEndOfJobs() {
    guard let run = watched?.run else { return }
    let haveEnded = isDrained && (haveJobsEnded || run.haveJobsEnded)
    guard haveEnded != haveJobsEnded else { return }
    haveJobsEnded = haveEnded
    deliver(.jobsEnded(haveEnded))
    pacer.noteReaction()
  }

  /// Returns the time at which the loop asks again whether all jobs have ended; `nil` if it need not ask. The runner
  /// stores the end of the last job soon after the last update.
  private func nextLook(after now: MonitorTime) -> MonitorTime? {
    let mustLook = watched?.run != nil && isDrained && !haveJobsEnded
    return mustLook ? now + .milliseconds(100) : nil
  }

  private mutating func take(_ answer: SourceOpener.Answer) {
    deliver(.tick(.now + clockLead))
    switch answer {
    case .found(let choices): deliver(.found(choices))
    case .findFailed(let reason): deliver(.findFailed(reason: reason))
    case .failed(let reason): deliver(.openFailed(reason: reason))
    case .opened(let new):
      // The first message of a new source is its greeting. No message of the previous source may
      // arrive after the greeting, so the previous source ends now.
      if let watched { opener.endLater(watched) }
      if watched?.replay != nil { deliver(.replay(nil)) }
      watched = new
      outputReader = new.run.map { OutputReader($0.output) }
      isDrained = false
      haveJobsEnded = false
      deliver(.opened)
    }
    pacer.noteReaction()
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

  private mutating func takeInput(_ terminalState: cmonitor_waiting) {
    var inputs: [Input] = []
    if terminalState.is_readable {
      switch terminal.readInput() {
      case .inputs(let read): inputs = read
      case .gone: ending = ending ?? .status(1)
      }
      inputDeadline = terminal.inputPatience.map { .now + $0 }
    } else if terminalState.is_ready {
      ending = ending ?? .status(1)
    } else if let deadline = inputDeadline, deadline <= .now {
      inputs = terminal.expireInput()
      inputDeadline = terminal.inputPatience.map { .now + $0 }
    }
    guard !inputs.isEmpty else { return }
    deliver(.tick(.now + clockLead))
    for input in inputs where ending == nil { deliver(.input(input)) }
    performSearch()
    pacer.noteInput(at: .now)
  }

  /// Performs the last search that the keys have requested. A search can take long, so that keys which were typed in
  /// this time request one search together.
  private mutating func performSearch() {
    guard let search = pendingSearch else { return }
    pendingSearch = nil
    if let result = outputReader?.search(search) { deliver(.outputSearched(result)) }
  }

  private mutating func deliver(_ message: Message) {
    for effect in dashboard.reduce(message) { perform(effect) }
    if isSearching, !dashboard.isPickerOpen {
      isSearching = false
      opener.endSearch()
    }
    pacer.interval = dashboard.refreshInterval
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .send(let command): watched?.session.send(command)
    case .watch(let interest): watched?.session.watch(interest)
    case .replay(let command): watched?.replay?.perform(command)
    case .findProcesses(let isRequested):
      isSearching = true
      opener.find(isRequested: isRequested)
    case .open(let source): opener.open(source)
    case .export(let frame): deliver(.exported(ExportFile.write(frame)))
    case .readOutput(let request):
      if let page = outputReader?.page(request) { deliver(.output(page)) }
    case .searchOutput(let search): pendingSearch = search
    case .quit: ending = ending ?? .status(0)
    case .interrupt: ending = ending ?? .signal(cmonitor_signal_interrupt)
    case .suspendProgram: suspend()
    case .repaint: terminal.repaintAll()
    case .bell: terminal.ringBell()
    case .saveSettings(let settings, let keys):
      deliver(.settingsSaved(SettingsFile.save(settings, keys, in: settingsFile)))
    case .setTheme(let theme): terminal.setTheme(theme)
    case .copy(let text): terminal.copy(text)
    case .setMouse(let isOn): terminal.setMouse(isOn)
    }
  }

  private mutating func suspend() {
    var isAskedAgain = false
    repeat {
      terminal.suspend()
      // Signals for the continuation of the process and for a new terminal size are ignored,
      // because this function handles both. A stop request among the signals arrived after the
      // continuation, because continuing a process discards earlier stop requests.
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
  /// Whether all operations have finished or were cancelled.
  var isDrained: Bool { counts.waiting + counts.ready + counts.executing == 0 }
}
