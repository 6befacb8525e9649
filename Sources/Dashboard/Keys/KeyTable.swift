// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The table of all keys and their actions. Key handling, help and footers use only this table.
enum KeyTable {
  /// The views in which the user can select one of several operations: the list and the tree.
  static let browsing: Set<KeyContext> = [.list, .tree]
  /// The contexts in which commands have an operation to act on: the list, the tree, the screen of one
  /// operation, and the screen of one queue.
  static let choosing = browsing.union([.detail, .queue])
  /// The contexts of all views. A context is a part of the screen that receives key presses.
  static let viewing: Set<KeyContext> = [
    .list, .tree, .queues, .timeline, .events, .detail, .log, .warnings, .queue, .groups,
  ]
  /// The views that show past events: the timeline and the log of events.
  static let history: Set<KeyContext> = [.timeline, .events]
  /// The contexts in which keys move a selection or scroll.
  static let scrolling = viewing.union([.picker, .help, .setup])
  /// All contexts.
  static let everywhere = Set(KeyContext.allCases)

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
    .replay(.seekForward), .replay(.goToTime), .replay(.stepBack), .replay(.stepForward),
    .replay(.slower), .replay(.faster),
    .answer(.no), .answer(.yes), .answer(.also),
    .setup(.change), .setup(.save), .setup(.changeSide), .setup(.moveDown), .setup(.moveUp),
    .setup(.increase),
    .groups(.filter), .groups(.cycle), .groups(.sortPrevious), .groups(.sortNext),
    .queue(.open),
    .command(.cancel), .command(.retry), .command(.hold), .command(.release), .tree(.toggle),
    .queue(.toggleSuspended),
    .tree(.goToBlocker),
    .list(.openFilter), .screen(.nextView), .queue(.narrow), .queue(.widen), .queue(.setRate),
    .picker(.openChoice), .picker(.choose),
    .command(.tag), .command(.armCancelKeys), .detail(.open), .tree(.enterRow),
    .list(.openSearch), .list(.openSortMenu), .log(.open), .log(.openSearch), .log(.searchNext),
    .warnings(.goTo), .warnings(.showOperations), .queueScreen(.nextQueue),
    .timeline(.zoomIn), .timeline(.zoomOut), .timeline(.previousRun), .timeline(.nextRun),
    .tree(.fold),
    .screen(.pause), .picker(.open), .setup(.toggle),
  ]

  /// Keys that a footer shows only together.
  private static let footerPairs: [Set<KeyAction>] = [
    [.replay(.stepBack), .replay(.stepForward)], [.replay(.slower), .replay(.faster)],
    [.replay(.seekBack), .replay(.seekForward)], [.timeline(.zoomIn), .timeline(.zoomOut)],
    [.timeline(.previousRun), .timeline(.nextRun)],
  ]

  /// Returns the action of a key and, if a footer shows the key only together with another one, also the action of the
  /// other key.
  static func footerPair(of action: KeyAction) -> Set<KeyAction> {
    footerPairs.first { $0.contains(action) } ?? [action]
  }

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
  static let bindings: [KeyBinding] =
    looking + setup + acting + moving + program + answers

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
      .timeline(.previousRun), [.character("h"), .key(.left)], in: [.timeline], label: "h Left",
      help: "previous run of the slot", group: .moving, footer: ("h", [.timeline: "Previous"])),
    KeyBinding(
      .timeline(.nextRun), [.character("l"), .key(.right)], in: [.timeline], label: "l Right",
      help: "next run of the slot", group: .moving, footer: ("l", [.timeline: "Next"])),
    KeyBinding(
      .list(.goToOperation), "0123456789".unicodeScalars.map { .character($0) }, in: browsing,
      label: "0-9", help: "go to operation by id", group: .moving),
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
