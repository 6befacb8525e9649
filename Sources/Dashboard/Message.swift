// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// What the program's loop tells the dashboard.
public enum Message: Sendable, Equatable {
  /// The monitored process says something.
  case monitor(MonitorMessage)
  /// A key was pressed.
  case input(Input)
  /// The current time on the monitored process's clock; sent before other messages, and at the
  /// moment that ``Dashboard/nextTick(after:)`` asked for.
  case tick(MonitorTime)
  /// The terminal has another size; also the first message.
  case resized(Size)
  /// What became of an ``Effect/export(_:)``.
  case exported(ExportResult)
  /// The answer to ``Effect/findProcesses``: every process that was found, in the order in which they
  /// are to be listed.
  case found([ProcessChoice])
  /// The answer to ``Effect/open(_:)`` where that did not succeed, for the reason that this sentence
  /// gives. What was watched before still is.
  case openFailed(reason: String)
  /// Where the recording is that is watched, and how it is played; before anything else that is told of
  /// it, and whenever that changes. `nil` where what is watched from now on is none: its `hello` follows.
  case replay(ReplayStatus?)
  /// What is watched is recorded no more, for the reason that this sentence gives.
  case recordingFailed(reason: String)
}

/// What the dashboard asks of the program's loop.
public enum Effect: Sendable, Equatable {
  /// Send this to the monitored process.
  case send(MonitorCommand)
  /// Tell the monitor that this is what the dashboard wants to know from now on. At first it is an
  /// `Interest()`; after a later greeting this is always asked for anew.
  case watch(Interest)
  /// Write this into a new file, and say with ``Message/exported(_:)`` what became of that. Its
  /// operations are those that were listed.
  case export(MonitorProtocol.Frame)
  /// Look which processes can be watched, and say so with ``Message/found(_:)``. Not asked for again
  /// before that.
  case findProcesses
  /// Watch this from now on.
  ///
  /// The answer is the `hello` of the new source, with which what was watched before ends: no message
  /// of that may come later. Or it is ``Message/openFailed(reason:)``. Not asked for again before one of
  /// these.
  case open(Source)
  /// Play the recording that is watched so from now on, and say with ``Message/replay(_:)`` where it is.
  case replay(ReplayCommand)
  /// Leave the program.
  case quit
  /// Ctrl-C was typed: end as if by the signal that it sends where no program reads the keys.
  case interrupt
  /// Give the terminal back and stop, as Ctrl-Z asks; the loop repaints on return.
  case suspendProgram
  /// Draw every cell anew, whatever the terminal is thought to show.
  case repaint
  /// Sound the bell: the key could not do what it says.
  case bell
}

/// What became of what was to be exported.
public enum ExportResult: Sendable, Equatable {
  /// So many operations are in the file of this name, in the current directory.
  case written(operationCount: Int, fileName: String)
  /// There is no file, for the reason that this sentence gives.
  case failed(reason: String)
}
