// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// A message of the program's loop to the dashboard.
public enum Message: Sendable, Equatable {
  /// A message of the monitored process.
  case monitor(MonitorMessage)
  /// A key was pressed.
  case input(Input)
  /// The current time on the monitored process's clock. It is sent before other messages, and at the moment
  /// that ``Dashboard/nextTick(after:)`` returned.
  case tick(MonitorTime)
  /// The terminal has another size. This is also the first message.
  case resized(Size)
  /// The result of an ``Effect/export(_:)``.
  case exported(ExportResult)
  /// The answer to ``Effect/findProcesses``: every process that was found, in the order of the list.
  case found([ProcessChoice])
  /// The answer to ``Effect/open(_:)`` if the source could not be opened, with the reason in a sentence. The
  /// previous source is still watched.
  case openFailed(reason: String)
  /// The position and the speed of the watched recording. It is sent before any other message about the
  /// recording, and whenever they change. `nil` if the next source is not a recording; its `hello` follows.
  case replay(ReplayStatus?)
  /// The watched source is no longer recorded, with the reason in a sentence.
  case recordingFailed(reason: String)
}

/// An action that the dashboard requests from the program's loop.
public enum Effect: Sendable, Equatable {
  /// Send this to the monitored process.
  case send(MonitorCommand)
  /// Send this interest to the monitor. The first interest is an `Interest()`; after a later greeting it is
  /// always sent again.
  case watch(Interest)
  /// Write this into a new file, and report the result with ``Message/exported(_:)``. Its
  /// operations are those that were listed.
  case export(MonitorProtocol.BatchFrame)
  /// Find the processes that can be watched, and answer with ``Message/found(_:)``. It is not requested again
  /// before the answer.
  case findProcesses
  /// Watch this source from now on.
  ///
  /// The answer is the `hello` of the new source, which ends the previous source: no message of the previous
  /// source may come after it. If the source cannot be opened, the answer is ``Message/openFailed(reason:)``.
  /// It is not requested again before the answer.
  case open(Source)
  /// Control the watched recording in this way, and answer with ``Message/replay(_:)``.
  case replay(ReplayCommand)
  /// Leave the program.
  case quit
  /// Ctrl-C was typed: end as if by the signal that it sends if no program reads the keys.
  case interrupt
  /// Ctrl-Z was typed: restore the terminal and stop. The loop repaints when the process continues.
  case suspendProgram
  /// Draw every cell again, even if the terminal is assumed to show it already.
  case repaint
  /// Sound the bell: the action of the key is impossible.
  case bell
}

/// The result of an export.
public enum ExportResult: Sendable, Equatable {
  /// The file in the current directory has this name and this number of operations.
  case written(operationCount: Int, fileName: String)
  /// There is no file, with the reason in a sentence.
  case failed(reason: String)
}
