// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The table of all keys and their actions. Key handling, help and footers use only this table.
enum KeyTable {
  /// The views in which the user can select one of several operations: the list and the tree.
  private static let browsing: Set<KeyContext> = [.list, .tree]
  /// The contexts in which commands have an operation to act on: the list, the tree, and the screen of one
  /// operation.
  private static let choosing = browsing.union([.detail])
  /// The contexts of all views. A context is a part of the screen that receives key presses.
  private static let viewing: Set<KeyContext> = [
    .list, .tree, .queues, .timeline, .events, .detail, .log, .warnings,
  ]
  /// The views that show past events: the timeline and the log of events.
  private static let history: Set<KeyContext> = [.timeline, .events]
  private static let scrolling = viewing.union([.picker, .help])
  private static let everywhere = Set(KeyContext.allCases)

  /// Returns the action of a key in a context; `nil` if the key has no action there.
  static func action(for input: Input, in context: KeyContext) -> KeyAction? {
    actions[context]?[input]
  }

  /// Returns the keys in the footer of a context, which is a part of the screen that receives key presses.
  /// The last key in the footer closes that part.
  static func footer(in context: KeyContext) -> [KeyBinding] {
    bindings.filter { $0.footerWords[context] != nil }
  }

  /// Returns the rank of a key in the footer. A footer without room for all keys shows the keys with the
  /// lowest ranks.
  static func footerRank(of binding: KeyBinding) -> Int {
    footerOrder.firstIndex(of: binding.action) ?? footerOrder.count
  }

  private static let footerOrder: [KeyAction] = [
    .screen(.toggleHelp), .replay(.togglePlaying), .replay(.nextWarning), .replay(.seekBack),
    .replay(.seekForward), .replay(.slower), .replay(.faster),
    .replay(.stepBack), .replay(.stepForward), .answer(.no), .answer(.yes), .answer(.also),
    .command(.cancel), .command(.retry), .command(.hold), .command(.release), .tree(.toggle),
    .queue(.toggleSuspended),
    .tree(.goToBlocker),
    .list(.openFilter), .screen(.nextView), .queue(.narrow), .queue(.widen),
    .command(.tag), .command(.armCancelKeys), .detail(.open), .tree(.enterRow),
    .list(.openSearch), .list(.openSortMenu), .log(.open), .log(.openSearch), .log(.searchNext),
    .warnings(.goTo), .warnings(.showOperations),
    .timeline(.zoomIn), .timeline(.zoomOut), .tree(.fold),
    .screen(.pause), .picker(.open),
  ]

  private static let actions: [KeyContext: [Input: KeyAction]] = {
    var actions: [KeyContext: [Input: KeyAction]] = [:]
    for binding in bindings {
      for context in binding.contexts {
        for input in binding.inputs { actions[context, default: [:]][input] = binding.action }
      }
    }
    return actions
  }()

  /// All keys, in the order of help and footers.
  static let bindings: [KeyBinding] = looking + acting + moving + program + answers

  private static let moving: [KeyBinding] = [
    KeyBinding(
      .movement(.down), [.character("j"), .key(.down)], in: scrolling, label: "j Down",
      help: "next row", group: .moving),
    KeyBinding(
      .movement(.up), [.character("k"), .key(.up)], in: scrolling, label: "k Up",
      help: "previous row", group: .moving),
    KeyBinding(
      .movement(.pageDown), [.key(.pageDown)], in: scrolling, label: "PgDn",
      help: "page down", group: .moving),
    KeyBinding(
      .movement(.pageUp), [.key(.pageUp)], in: scrolling, label: "PgUp",
      help: "page up", group: .moving),
    KeyBinding(
      .movement(.halfPageDown), [.control("d")], in: scrolling, label: "Ctrl-D",
      help: "half a page down", group: .moving),
    KeyBinding(
      .movement(.halfPageUp), [.control("u")], in: scrolling, label: "Ctrl-U",
      help: "half a page up", group: .moving),
    KeyBinding(
      .movement(.toTop), [.character("g"), .key(.home)], in: scrolling, label: "g Home",
      help: "first row", group: .moving),
    KeyBinding(
      .movement(.toBottom), [.character("G"), .key(.end)], in: scrolling, label: "G End",
      help: "last row; follow events", group: .moving),
    KeyBinding(
      .list(.scrollLeft), [.character("h"), .key(.left)], in: [.list], label: "h Left",
      help: "scroll names left", group: .moving),
    KeyBinding(
      .list(.scrollRight), [.character("l"), .key(.right)], in: [.list], label: "l Right",
      help: "scroll names right", group: .moving),
    KeyBinding(
      .list(.goToOperation), "0123456789".unicodeScalars.map { .character($0) }, in: browsing,
      label: "0-9", help: "go to operation by id", group: .moving),
  ]

  private static let looking: [KeyBinding] = [
    KeyBinding(
      .screen(.toggleHelp), [.character("?"), .function(1)], in: scrolling, label: "? F1",
      help: "show or close this help", group: .program,
      footer: (
        "?",
        [
          .list: "Help", .tree: "Help", .queues: "Help", .timeline: "Help", .events: "Help",
          .detail: "Help", .log: "Help", .warnings: "Help", .picker: "Help",
        ]
      )),
    KeyBinding(
      .picker(.openChoice), [.key(.enter)], in: [.picker], label: "Enter",
      help: "attach to this process", group: .looking, footer: ("Enter", [.picker: "Open"])),
    KeyBinding(
      .picker(.lookAgain), [.character("r")], in: [.picker], label: "r",
      help: "search for processes", group: .looking, footer: ("r", [.picker: "Look again"])),
    KeyBinding(
      .screen(.nextView), [.key(.tab)], in: viewing, label: "Tab", help: "next view",
      group: .looking, footer: ("Tab", [.queues: "View", .timeline: "View", .events: "View"])),
    KeyBinding(
      .screen(.previousView), [.key(.backTab)], in: viewing, label: "Shift-Tab",
      help: "previous view",
      group: .looking),
    KeyBinding(
      .screen(.showView), "12345".unicodeScalars.map { .alt($0) }, in: viewing, label: "Alt-1 to 5",
      help: "view 1 to 5", group: .looking),
    KeyBinding(
      .detail(.open), [.key(.enter)], in: history.union([.list]), label: "Enter",
      help: "show the details", group: .looking,
      footer: ("Enter", [.list: "Detail", .timeline: "Detail", .events: "Detail"])),
    KeyBinding(
      .detail(.next), [.character("n")], in: [.detail], label: "n (detail)",
      help: "go to next operation", group: .looking, footer: ("n", [.detail: "Next"])),
    KeyBinding(
      .detail(.previous), [.character("N")], in: [.detail], label: "N (detail)",
      help: "go to previous operation", group: .looking, footer: ("N", [.detail: "Previous"])),
    KeyBinding(
      .log(.open), [.character("L")], in: choosing.union(history), label: "L",
      help: "show the log lines", group: .looking, footer: ("L", [.detail: "Log"])),
    KeyBinding(
      .log(.openSearch), [.character("/"), .function(3)], in: [.log], label: "/ (log)",
      help: "search the log lines", group: .looking, footer: ("/", [.log: "Find"])),
    KeyBinding(
      .log(.searchNext), [.character("n")], in: [.log], label: "n (log)", help: "next match",
      group: .moving, footer: ("n", [.log: "Next"])),
    KeyBinding(
      .log(.searchPrevious), [.character("N")], in: [.log], label: "N (log)",
      help: "previous match", group: .moving, footer: ("N", [.log: "Previous"])),
    KeyBinding(
      .log(.previousAttempt), [.character("<")], in: [.log], label: "< (log)",
      help: "output of earlier attempt", group: .looking),
    KeyBinding(
      .log(.nextAttempt), [.character(">")], in: [.log], label: "> (log)",
      help: "output of later attempt", group: .looking),
    KeyBinding(
      .tree(.toggle), [.character("t"), .function(5)], in: choosing,
      label: "t F5", help: "switch tree/list", group: .looking,
      footer: ("t", [.list: "Tree", .tree: "List", .detail: "Tree"])),
    KeyBinding(
      .tree(.showDependencies), [.character("d")], in: choosing, label: "d",
      help: "tree of dependencies", group: .looking,
      footer: ("d", [.list: "Deps", .tree: "Deps"])),
    KeyBinding(
      .tree(.showDependents), [.character("D")], in: choosing, label: "D",
      help: "tree of dependents", group: .looking,
      footer: ("D", [.list: "Blocks", .tree: "Blocks"])),
    KeyBinding(
      .tree(.enterRow), [.key(.enter)], in: [.tree], label: "Enter (tree)",
      help: "show the details", group: .looking,
      footer: ("Enter", [.tree: "Detail"])),
    KeyBinding(
      .tree(.fold), [.character("h"), .key(.left), .character("-")], in: [.tree], label: "h Left -",
      help: "fold row or go to parent", group: .looking, footer: ("h", [.tree: "Fold"])),
    KeyBinding(
      .tree(.unfold), [.character("l"), .key(.right), .character("+"), .character("=")],
      in: [.tree],
      label: "l Right +", help: "unfold row or go to child", group: .looking),
    KeyBinding(
      .tree(.toggleAllFolds), [.character("*")], in: [.tree], label: "*",
      help: "fold or unfold all rows",
      group: .looking),
    KeyBinding(
      .tree(.goToBlocker), [.character("b")], in: choosing, label: "b",
      help: "go to the row's blocker",
      group: .looking, footer: ("b", [.list: "Blocker", .tree: "Blocker", .detail: "Blocker"])),
    KeyBinding(
      .tree(.goToWorst), [.character("B")], in: browsing, label: "B",
      help: "go to biggest blocker",
      group: .looking),
    KeyBinding(
      .tree(.reroot), [.character("r")], in: [.tree], label: "r (tree)",
      help: "make this row the root", group: .looking, footer: ("r", [.tree: "Root"])),
    KeyBinding(
      .tree(.showRoots), [.character("R")], in: [.tree], label: "R (tree)",
      help: "show all dependency trees", group: .looking),
    KeyBinding(
      .list(.openSearch), [.character("/"), .function(3)], in: [.list], label: "/ F3",
      help: "search all operations", group: .looking, footer: ("/", [.list: "Find"])),
    KeyBinding(
      .list(.searchNext), [.character("n")], in: [.list], label: "n", help: "next match",
      group: .moving),
    KeyBinding(
      .list(.searchPrevious), [.character("N")], in: [.list], label: "N", help: "previous match",
      group: .moving),
    KeyBinding(
      .list(.openFilter), [.character("\\"), .character("f"), .function(4)], in: browsing,
      label: "\\ f F4", help: "filter, e.g. state:exec", group: .looking,
      footer: ("\\", [.list: "Filter", .tree: "Filter"])),
    KeyBinding(
      .list(.openSortMenu), [.character("s"), .function(6)], in: [.list], label: "s F6",
      help: "choose the sort column", group: .looking, footer: ("s", [.list: "Sort"])),
    KeyBinding(
      .list(.sortPrevious), [.character("<")], in: [.list], label: "<",
      help: "sort by previous column",
      group: .looking),
    KeyBinding(
      .list(.sortNext), [.character(">")], in: [.list], label: ">", help: "sort by next column",
      group: .looking),
    KeyBinding(
      .list(.invertOrder), [.character("I"), .character("i")], in: [.list], label: "I i",
      help: "reverse the order", group: .looking),
    KeyBinding(
      .list(.pin), [.character("F")], in: [.list], label: "F", help: "pin the selected row",
      group: .looking),
    KeyBinding(
      .timeline(.zoomIn), [.character("+"), .character("=")], in: [.timeline],
      label: "+ (timeline)",
      help: "zoom in", group: .looking, footer: ("+", [.timeline: "Finer"])),
    KeyBinding(
      .timeline(.zoomOut), [.character("-")], in: [.timeline], label: "- (timeline)",
      help: "zoom out", group: .looking, footer: ("-", [.timeline: "Coarser"])),
    KeyBinding(
      .list(.toggleOver), [.character("H")], in: [.list], label: "H",
      help: "hide/show finished", group: .looking),
    KeyBinding(
      .list(.toggleWarned), [.character("!")], in: [.list], label: "!",
      help: "show all or only warnings", group: .looking),
    KeyBinding(
      .warnings(.open), [.character("!")], in: viewing.subtracting([.list, .warnings]), label: "!",
      help: "show list of warnings", group: .looking),
    KeyBinding(
      .warnings(.goTo), [.key(.enter)], in: [.warnings], label: "Enter",
      help: "go to operation or queue", group: .looking, footer: ("Enter", [.warnings: "Go to"])),
    KeyBinding(
      .warnings(.showOperations), [.character("!")], in: [.warnings], label: "!",
      help: "show rows with warnings", group: .looking, footer: ("!", [.warnings: "Their rows"])),
  ]

  private static let acting: [KeyBinding] = [
    KeyBinding(
      .command(.tag), [.character(" ")], in: choosing, label: "Space",
      help: "tag row, and move down",
      group: .acting, footer: ("Space", [.list: "Tag", .tree: "Tag"])),
    KeyBinding(
      .command(.tagWithDependents), [.character("c")], in: choosing, label: "c",
      help: "tag row and dependents", group: .acting),
    KeyBinding(
      .command(.untagAll), [.character("U")], in: choosing, label: "U", help: "untag all",
      group: .acting),
    KeyBinding(
      .command(.cancel), [.character("x"), .function(9), .key(.delete)],
      in: choosing.union(history).union([.warnings]),
      label: "x F9 Delete", help: "cancel tagged or selected", group: .acting,
      footer: (
        "x",
        [
          .list: "Cancel", .tree: "Cancel", .timeline: "Cancel", .events: "Cancel",
          .detail: "Cancel", .warnings: "Cancel",
        ]
      ),
      changesProcess: true),
    KeyBinding(
      .command(.armCancelKeys), [.character("X")], in: browsing, label: "X + letter",
      help: "cancel row by its letter", group: .acting,
      footer: ("X", [.list: "By key", .tree: "By key"]),
      changesProcess: true),
    KeyBinding(
      .command(.retry), [.character("T")], in: viewing, label: "T",
      help: "retry tagged or selected", group: .acting,
      footer: (
        "T",
        [
          .list: "Retry", .tree: "Retry", .queues: "Retry", .timeline: "Retry", .events: "Retry",
          .detail: "Retry", .log: "Retry", .warnings: "Retry",
        ]
      ),
      changesProcess: true),
    KeyBinding(
      .command(.hold), [.character("W")], in: choosing, label: "W",
      help: "hold: prevent the start", group: .acting,
      footer: ("W", [.list: "Hold", .tree: "Hold", .detail: "Hold"]), changesProcess: true),
    KeyBinding(
      .command(.release), [.character("V")], in: choosing, label: "V",
      help: "release what is held", group: .acting,
      footer: ("V", [.list: "Release", .tree: "Release", .detail: "Release"]),
      changesProcess: true),
    KeyBinding(
      .queue(.toggleSuspended), [.character("S")], in: viewing, label: "S",
      help: "suspend/resume the queue", group: .acting,
      footer: ("S", [.queues: "Suspend"]),
      changesProcess: true),
    KeyBinding(
      .queue(.narrow), [.character("-")], in: [.queues, .warnings], label: "- (queues)",
      help: "decrease queue width", group: .acting, footer: ("-", [.queues: "Narrower"]),
      changesProcess: true),
    KeyBinding(
      .queue(.widen), [.character("+"), .character("=")], in: [.queues, .warnings],
      label: "+ (queues)",
      help: "increase queue width", group: .acting, footer: ("+", [.queues: "Wider"]),
      changesProcess: true),
    KeyBinding(
      .command(.raisePriority), [.character("}"), .function(8)], in: choosing, label: "} F8",
      help: "raise the priority", group: .acting, changesProcess: true),
    KeyBinding(
      .command(.lowerPriority), [.character("{"), .function(7)], in: choosing, label: "{ F7",
      help: "lower the priority", group: .acting, changesProcess: true),
    KeyBinding(
      .program(.export), [.character("e")], in: viewing, label: "e",
      help: "export the view as JSON",
      group: .acting),
  ]

  private static let program: [KeyBinding] = [
    KeyBinding(
      .screen(.pause), [.character("p"), .character("Z")], in: viewing, label: "p Z",
      help: "pause the display", group: .acting,
      footer: (
        "p",
        [
          .list: "Pause", .tree: "Pause", .queues: "Pause", .timeline: "Pause", .events: "Pause",
          .detail: "Pause", .log: "Pause",
        ]
      )),
    KeyBinding(
      .picker(.open), [.character("o")], in: viewing, label: "o",
      help: "watch another process", group: .program,
      footer: (
        "o",
        [
          .list: "Open", .tree: "Open", .queues: "Open", .timeline: "Open", .events: "Open",
        ]
      )),
    KeyBinding(
      .screen(.toggleName), [.character("w")], in: browsing.union(history), label: "w",
      help: "show or hide full name", group: .looking),
    KeyBinding(
      .program(.changeRefresh), [.character("["), .character("]")], in: viewing, label: "[ ]",
      help: "slower/faster refresh", group: .looking),
    KeyBinding(
      .screen(.toggleMeters), [.character("#")],
      in: viewing.subtracting([.detail, .log, .warnings]),
      label: "#",
      help: "hide/show bar and counts", group: .looking),
    KeyBinding(
      .program(.close), [.character("q")], in: scrolling, label: "q",
      help: "close, or quit", group: .program,
      footer: (
        "q",
        [
          .list: "Quit", .tree: "Back", .queues: "Back", .timeline: "Back", .events: "Back",
          .detail: "Back", .log: "Back", .warnings: "Back", .picker: "Back", .help: "Back",
        ]
      )),
    KeyBinding(
      .program(.back), [.key(.escape), .key(.backspace)], in: scrolling, label: "Esc Backspace",
      help: "close, or clear filter", group: .program),
    KeyBinding(
      .program(.quit), [.character("Q"), .function(10), .control("c")], in: everywhere,
      label: "Q F10 Ctrl-C", help: "quit at once", group: .program),
    KeyBinding(
      .program(.suspend), [.control("z")], in: everywhere, label: "Ctrl-Z",
      help: "suspend; fg to resume", group: .program),
    KeyBinding(
      .program(.repaint), [.control("l")], in: everywhere, label: "Ctrl-L",
      help: "redraw", group: .program),
  ]

  private static let answers: [KeyBinding] = [
    KeyBinding(
      .answer(.no),
      [.character("n"), .key(.enter), .key(.escape), .character("q"), .key(.backspace)],
      in: [.question], label: "n Enter Esc", help: "answer: no", group: .acting,
      footer: ("n", [.question: "No"])),
    KeyBinding(
      .answer(.yes), [.character("y")], in: [.question], label: "y", help: "answer: yes",
      group: .acting, footer: ("y", [.question: "Yes"])),
    KeyBinding(
      .answer(.also), [.character("a")], in: [.question], label: "a",
      help: "yes, and all dependents", group: .acting, footer: ("a", [.question: "Also"]),
      changesProcess: true),
  ]
}
