// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a key can mean, by the feature that does it.
///
/// Each feature has a function `perform` that switches over its own keys without `default`, so that a
/// key that does nothing does not compile.
enum KeyAction: Sendable, Hashable {
  case program(Program)
  case screen(Screen)
  case movement(Movement)
  case list(List)
  case tree(Tree)
  case timeline(Timeline)
  case detail(Detail)
  case picker(Picker)
  case command(Command)
  case queue(Queue)
  case answer(Answer)
  case replay(Replay)

  /// What concerns the program as a whole.
  enum Program: Sendable, Hashable {
    case close, back, quit, suspend, repaint, export, changeRefresh
  }

  /// What is shown on the screen.
  enum Screen: Sendable, Hashable {
    case toggleHelp, nextView, previousView, showView, toggleMeters, toggleName, pause
  }

  /// Which row is selected, in whatever is shown.
  enum Movement: Sendable, Hashable {
    case down, up, pageDown, pageUp, halfPageDown, halfPageUp, toTop, toBottom
  }

  /// The list of operations.
  enum List: Sendable, Hashable {
    case openFilter, openSearch, searchNext, searchPrevious
    case openSortMenu, sortNext, sortPrevious, invertOrder
    case pin, scrollLeft, scrollRight, toggleOver, toggleWarned, goToOperation
  }

  /// The trees of dependencies.
  enum Tree: Sendable, Hashable {
    case toggle, showDependencies, showDependents, enterRow, reroot, showRoots
    case fold, unfold, toggleAllFolds, goToBlocker, goToWorst
  }

  /// The timeline.
  enum Timeline: Sendable, Hashable {
    case zoomIn, zoomOut
  }

  /// The screen of one operation.
  enum Detail: Sendable, Hashable {
    case open, next, previous
  }

  /// The list of what can be watched.
  enum Picker: Sendable, Hashable {
    case open, openChoice, lookAgain
  }

  /// What commands are about, and those about operations.
  enum Command: Sendable, Hashable {
    case tag, tagWithDependents, untagAll, cancel, armCancelKeys, raisePriority, lowerPriority
  }

  /// The commands about a queue.
  enum Queue: Sendable, Hashable {
    case toggleSuspended, widen, narrow
  }

  /// The answers to a question.
  enum Answer: Sendable, Hashable {
    case no, yes, also
  }

  /// A recording that is played.
  enum Replay: Sendable, Hashable {
    case togglePlaying, slower, faster, stepBack, stepForward
    case seekBack, seekForward, seekFarBack, seekFarForward, toStart, toEnd
    case previousWarning, nextWarning
  }
}
