// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The action of a key, grouped by feature.
///
/// Each feature has a function `perform` that switches over the actions of the feature without `default`.
/// Therefore an action without an implementation does not compile.
enum KeyAction: Sendable, Hashable {
  case program(Program)
  case screen(Screen)
  case movement(Movement)
  case list(List)
  case tree(Tree)
  case timeline(Timeline)
  case detail(Detail)
  case log(Log)
  case picker(Picker)
  case command(Command)
  case queue(Queue)
  case queueScreen(QueueScreen)
  case groups(Groups)
  case setup(Setup)
  case warnings(Warnings)
  case answer(Answer)
  case replay(Replay)

  /// Actions that concern the whole program.
  enum Program: Sendable, Hashable {
    case close, back, quit, suspend, repaint, export, changeRefresh
  }

  /// Actions that change the contents of the screen.
  enum Screen: Sendable, Hashable {
    case toggleHelp, nextView, previousView, showView, toggleMeters, toggleName, pause, copy
  }

  /// Movements of the selection, in every view.
  enum Movement: Sendable, Hashable {
    case down, up, pageDown, pageUp, halfPageDown, halfPageUp, toTop, toBottom
  }

  /// Actions of the list of operations.
  enum List: Sendable, Hashable {
    case openFilter, openSearch, searchNext, searchPrevious
    case openSortMenu, sortNext, sortPrevious, invertOrder
    case pin, scrollLeft, scrollRight, toggleOver, toggleWarned, goToOperation
  }

  /// Actions of the tree view.
  enum Tree: Sendable, Hashable {
    case toggle, showDependencies, showDependents, enterRow, reroot, showRoots
    case fold, unfold, toggleAllFolds, goToBlocker, goToWorst
  }

  /// Actions of the timeline.
  enum Timeline: Sendable, Hashable {
    case zoomIn, zoomOut, previousRun, nextRun
  }

  /// Actions of the detail screen, which shows one operation.
  enum Detail: Sendable, Hashable {
    case open, next, previous
  }

  /// Actions of the log screen, which shows the log lines of one operation, or the output of a job.
  enum Log: Sendable, Hashable {
    case open, openSearch, searchNext, searchPrevious, previousAttempt, nextAttempt
  }

  /// Actions of the picker.
  enum Picker: Sendable, Hashable {
    case open, openChoice, lookAgain, choose
  }

  /// Commands for operations, and actions that tag operations for the next command.
  enum Command: Sendable, Hashable {
    case tag, tagWithDependents, untagAll, cancel, armCancelKeys, retry, hold, release
    case raisePriority, lowerPriority
  }

  /// Commands for a queue, and the action that opens its screen.
  enum Queue: Sendable, Hashable {
    case toggleSuspended, widen, narrow, setRate, open
  }

  /// Actions of the queue screen, which shows one queue.
  enum QueueScreen: Sendable, Hashable {
    case nextQueue, previousQueue
  }

  /// Actions of the list that is grouped by kind or by queue.
  enum Groups: Sendable, Hashable {
    case cycle, filter, sortNext, sortPrevious, invertOrder
  }

  /// Actions of the setup, which shows the settings and the columns of the list.
  enum Setup: Sendable, Hashable {
    case toggle, changeSide, change, moveUp, moveDown, increase, decrease, automatic, save
  }

  /// Actions of the list of warnings.
  enum Warnings: Sendable, Hashable {
    case open, goTo, showOperations
  }

  /// Answers to a question.
  enum Answer: Sendable, Hashable {
    case no, yes, also
  }

  /// Actions of a replayed recording.
  enum Replay: Sendable, Hashable {
    case togglePlaying, slower, faster, stepBack, stepForward
    case seekBack, seekForward, seekFarBack, seekFarForward, toStart, toEnd
    case previousWarning, nextWarning, goToTime
  }
}
