// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// A message that the program's loop sends to the dashboard.
public enum Message: Sendable, Equatable {
  /// A message of the monitored process.
  case monitor(MonitorMessage)
  /// The user pressed a key, pasted a text or used the mouse.
  case input(Input)
  /// The current time on the monitored process's clock. The loop sends this message before other messages,
  /// and at the moment that ``Dashboard/nextTick(after:)`` returned.
  case tick(MonitorTime)
  /// The terminal has a new size. The loop also sends this message first, with the initial size.
  case resized(Size)
  /// The result of an ``Effect/export(_:)``.
  case exported(ExportResult)
  /// The answer to ``Effect/findProcesses(isRequested:)``: all processes that were found, in the order in which the
  /// picker lists them.
  case found([ProcessChoice])
  /// The answer to ``Effect/findProcesses(isRequested:)`` if the processes of another machine could not be found. The
  /// reason is a sentence.
  case findFailed(reason: String)
  /// The source of an ``Effect/open(_:)`` could not be opened. The reason is a sentence. The dashboard still
  /// watches the previous source.
  case openFailed(reason: String)
  /// The source of an ``Effect/open(_:)`` was opened, and the loop watches it from now on. The next greeting is that of
  /// this source, even if it seems to be that of the previous one.
  case opened
  /// The position and the speed of the watched recording; `nil` if the next source is not a recording. The
  /// loop sends this message before any other message about a recording, and whenever the position or the
  /// speed changes. If the value is `nil`, the greeting of the next source follows.
  case replay(ReplayStatus?)
  /// All jobs of the first source have ended. If the value is `false`, jobs run again.
  case jobsEnded(Bool)
  /// The program no longer records the watched source. The reason is a sentence.
  case recordingFailed(reason: String)
  /// The answer to ``Effect/saveSettings(_:_:)``.
  case settingsSaved(SettingsResult)
  /// The answer to an ``Effect/readOutput(_:)``.
  case output(OutputPage)
  /// The answer to an ``Effect/searchOutput(_:)``.
  case outputSearched(OutputSearchResult)
}

/// An action that the dashboard asks the program's loop to perform.
public enum Effect: Sendable, Equatable {
  /// The loop must send this command to the monitored process.
  case send(MonitorCommand)
  /// The loop must send this interest to the monitor. An interest describes the data that the dashboard
  /// needs. Before the first effect of this kind, the monitor has the interest `Interest()`. After each later
  /// greeting, the dashboard sends its interest again.
  case watch(Interest)
  /// The loop must write this frame into a new file, and report the result with ``Message/exported(_:)``. The
  /// frame contains the operations to export.
  case export(MonitorProtocol.BatchFrame)
  /// The loop must find the processes that can be watched, and answer with ``Message/found(_:)``
  /// or ``Message/findFailed(reason:)``. The dashboard does not request a second search before the answer.
  ///
  /// `isRequested` is `true` if the user has opened the picker or has pressed the key for a new search. It is `false`
  /// if the open picker repeats the search by itself.
  case findProcesses(isRequested: Bool)
  /// The loop must watch this source instead of the present one.
  ///
  /// The answer is the `hello` of the new source, which ends the previous source: after it, the loop must not
  /// send messages of the previous source. If the source cannot be opened, the answer is
  /// ``Message/openFailed(reason:)``. The dashboard does not request another source before the answer.
  case open(Source)
  /// The loop must control the watched recording with this command, and answer with ``Message/replay(_:)``.
  case replay(ReplayCommand)
  /// The loop must read lines of the output of a job, and answer with ``Message/output(_:)``. No answer is necessary if
  /// the request contains the present facts, or if the operation is not a job.
  case readOutput(OutputRequest)
  /// The loop must search the output of a job, and answer with ``Message/outputSearched(_:)``.
  case searchOutput(OutputSearch)
  /// The loop must send this text to the terminal's clipboard. The text is unsanitised.
  case copy(String)
  /// The loop must write the settings with these keys into the settings file, and report the result with
  /// ``Message/settingsSaved(_:)``. The other values of the file must not change.
  case saveSettings(DashboardSettings, Set<DashboardSettings.Key>)
  /// The loop must switch the reports of the terminal's mouse on or off.
  case setMouse(Bool)
  /// The loop must draw with the colors of this theme from now on.
  case setTheme(Theme)
  /// The loop must end the program.
  case quit
  /// The loop must end the program as the interrupt signal would, because the user typed Ctrl-C.
  case interrupt
  /// The loop must restore the terminal and stop the process, because the user typed Ctrl-Z. The loop
  /// repaints when the process continues.
  case suspendProgram
  /// The loop must draw every cell of the screen again, even the cells that have not changed.
  case repaint
  /// The loop must sound the bell, because the action of a key is impossible, or because operations are in a new
  /// deadlock.
  case bell
}

/// The result of writing the settings file.
public enum SettingsResult: Sendable, Equatable {
  /// The file was written. The path is unsanitised.
  case saved(path: String)
  /// The file was not written. The reason is a sentence.
  case failed(reason: String)
}

/// The result of an export.
public enum ExportResult: Sendable, Equatable {
  /// The file was written. The file is in the current directory and contains this number of operations.
  case written(operationCount: Int, fileName: String)
  /// The file was not written. The reason is a sentence.
  case failed(reason: String)
}
