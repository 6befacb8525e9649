// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension KeyTable {
  /// The keys that change what the screen shows.
  static let looking: [KeyBinding] = [
    KeyBinding(
      .screen(.toggleHelp), [.character("?"), .function(1)], in: scrolling, label: "? F1",
      help: "show or close this help", group: .program,
      footer: (
        "?",
        [
          .list: "Help", .tree: "Help", .queues: "Help", .timeline: "Help", .events: "Help",
          .detail: "Help", .log: "Help", .warnings: "Help", .picker: "Help", .queue: "Help",
          .groups: "Help", .setup: "Help",
        ]
      )),
    KeyBinding(
      .picker(.openChoice), [.key(.enter)], in: [.picker], label: "Enter",
      help: "attach to this process", group: .looking, footer: ("Enter", [.picker: "Open"])),
    KeyBinding(
      .picker(.choose), [.character(" ")], in: [.picker], label: "Space",
      help: "choose several", group: .looking, footer: ("Space", [.picker: "Choose"])),
    KeyBinding(
      .picker(.lookAgain), [.character("r")], in: [.picker], label: "r",
      help: "search for processes", group: .looking, footer: ("r", [.picker: "Look again"])),
    KeyBinding(
      .queue(.open), [.key(.enter)], in: [.queues], label: "Enter", help: "open the queue",
      group: .looking, footer: ("Enter", [.queues: "Open"])),
    KeyBinding(
      .groups(.filter), [.key(.enter)], in: [.groups], label: "Enter",
      help: "list only this group", group: .looking, footer: ("Enter", [.groups: "Filter"])),
    KeyBinding(
      .groups(.cycle), [.character("v")], in: [.list, .groups], label: "v",
      help: "group by kind or queue", group: .looking,
      footer: ("v", [.groups: "By queue", .list: "Group"])),
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
      .detail(.open), [.key(.enter)], in: history.union([.list, .queue]), label: "Enter",
      help: "show the details", group: .looking,
      footer: (
        "Enter", [.list: "Detail", .timeline: "Detail", .events: "Detail", .queue: "Detail"]
      )),
    KeyBinding(
      .queueScreen(.nextQueue), [.character("n")], in: [.queue], label: "n (queue)",
      help: "go to next queue", group: .looking, footer: ("n", [.queue: "Next"])),
    KeyBinding(
      .queueScreen(.previousQueue), [.character("N")], in: [.queue], label: "N (queue)",
      help: "go to previous queue", group: .looking),
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
      .groups(.sortPrevious), [.character("<")], in: [.groups], label: "<",
      help: "sort by previous column", group: .looking, footer: ("<", [.groups: "Sort"])),
    KeyBinding(
      .groups(.sortNext), [.character(">")], in: [.groups], label: ">",
      help: "sort by next column", group: .looking, footer: (">", [.groups: "Sort"])),
    KeyBinding(
      .groups(.invertOrder), [.character("I"), .character("i")], in: [.groups], label: "I i",
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
}
