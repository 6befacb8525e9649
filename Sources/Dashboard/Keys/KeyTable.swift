// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Every key and its meaning: the one source of what keys do, what the help says and what the
/// footers name.
enum KeyTable {
  private static let browsing: Set<KeyContext> = [.list, .tree]
  private static let scrolling: Set<KeyContext> = [.list, .tree, .help]
  private static let everywhere = Set(KeyContext.allCases)

  /// What a key means where it is pressed; `nil` for nothing.
  static func action(for input: Input, in context: KeyContext) -> KeyAction? {
    actions[context]?[input]
  }

  /// What the footer of a context names, most important first.
  static func footer(in context: KeyContext) -> [KeyBinding] {
    bindings.filter { $0.footer != nil && $0.contexts.contains(context) }
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
  static let bindings: [KeyBinding] = looking + acting + moving + program + answers

  private static let moving: [KeyBinding] = [
    KeyBinding(
      .moveDown, [.character("j"), .key(.down)], in: scrolling, label: "j Down",
      help: "next row", group: .moving),
    KeyBinding(
      .moveUp, [.character("k"), .key(.up)], in: scrolling, label: "k Up",
      help: "previous row", group: .moving),
    KeyBinding(
      .pageDown, [.key(.pageDown)], in: scrolling, label: "PgDn",
      help: "a page down", group: .moving),
    KeyBinding(
      .pageUp, [.key(.pageUp)], in: scrolling, label: "PgUp",
      help: "a page up", group: .moving),
    KeyBinding(
      .halfPageDown, [.control("d")], in: scrolling, label: "Ctrl-D",
      help: "half a page down", group: .moving),
    KeyBinding(
      .halfPageUp, [.control("u")], in: scrolling, label: "Ctrl-U",
      help: "half a page up", group: .moving),
    KeyBinding(
      .moveToTop, [.character("g"), .key(.home)], in: scrolling, label: "g Home",
      help: "first row, and stay at the top", group: .moving),
    KeyBinding(
      .moveToBottom, [.character("G"), .key(.end)], in: scrolling, label: "G End",
      help: "last row", group: .moving),
    KeyBinding(
      .goToOperation, "0123456789".unicodeScalars.map { .character($0) }, in: browsing,
      label: "0-9", help: "go to the operation of that number", group: .moving),
  ]

  private static let looking: [KeyBinding] = [
    KeyBinding(
      .showHelp, [.character("?"), .function(1)], in: browsing, label: "? F1",
      help: "this help", group: .program, footer: ("?", "Help")),
    KeyBinding(
      .openTree, [.key(.enter)], in: [.list], label: "Enter",
      help: "dependency tree of the selected operation", group: .looking),
    KeyBinding(
      .toggleTree, [.character("t"), .function(5), .key(.tab)], in: browsing,
      label: "t F5 Tab", help: "tree or list", group: .looking, footer: ("t", "Tree/list")),
    KeyBinding(
      .showDependencies, [.character("d")], in: browsing, label: "d",
      help: "tree of what it waits for", group: .looking, footer: ("d", "Waits for")),
    KeyBinding(
      .showDependents, [.character("D")], in: browsing, label: "D",
      help: "tree of what waits for it; again: back", group: .looking, footer: ("D", "Blocks")),
    KeyBinding(
      .enterRow, [.key(.enter)], in: [.tree], label: "Enter (tree)",
      help: "make the row the root, follow ^seen, unfold +", group: .looking,
      footer: ("Enter", "Root")),
    KeyBinding(
      .reroot, [.character("r")], in: [.tree], label: "r (tree)",
      help: "make the row the root", group: .looking),
    KeyBinding(
      .toggleOver, [.character("H")], in: [.list], label: "H",
      help: "hide or show finished and cancelled", group: .looking),
    KeyBinding(
      .pause, [.character("p"), .character("Z")], in: browsing, label: "p Z",
      help: "pause the display; the work goes on", group: .looking, footer: ("p", "Pause")),
    KeyBinding(
      .toggleMeters, [.character("#")], in: browsing, label: "#",
      help: "hide or show bar, counts and queues", group: .looking),
  ]

  private static let acting: [KeyBinding] = [
    KeyBinding(
      .cancel, [.character("x"), .function(9), .key(.delete)], in: browsing,
      label: "x F9 Delete", help: "cancel the selected operation, after a question",
      group: .acting, footer: ("x", "Cancel"), changesProcess: true),
    KeyBinding(
      .armCancelKeys, [.character("X")], in: [.list], label: "X + letter",
      help: "cancel the operation whose row has that key", group: .acting,
      footer: ("X", "By key"), changesProcess: true),
    KeyBinding(
      .suspendQueue, [.character("S")], in: browsing, label: "S",
      help: "suspend or resume the selected operation's queue", group: .acting,
      footer: ("S", "Suspend"), changesProcess: true),
  ]

  private static let program: [KeyBinding] = [
    KeyBinding(
      .close, [.character("q")], in: [.list, .tree, .help], label: "q",
      help: "close what is open, else quit", group: .program, footer: ("q", "Quit")),
    KeyBinding(
      .back, [.key(.escape), .key(.backspace)], in: [.list, .tree, .help],
      label: "Esc Backspace", help: "back", group: .program),
    KeyBinding(
      .back, [.character("?"), .function(1)], in: [.help], label: "? F1 (help)",
      help: "close the help", group: .program),
    KeyBinding(
      .quit, [.character("Q"), .function(10), .control("c")], in: everywhere,
      label: "Q F10 Ctrl-C", help: "quit at once", group: .program),
    KeyBinding(
      .suspendProgram, [.control("z")], in: everywhere, label: "Ctrl-Z",
      help: "stop the program; fg brings it back", group: .program),
    KeyBinding(
      .repaint, [.control("l")], in: everywhere, label: "Ctrl-L",
      help: "draw everything anew", group: .program),
  ]

  private static let answers: [KeyBinding] = [
    KeyBinding(
      .answerNo,
      [
        .character("n"), .key(.enter), .key(.escape), .character("q"), .key(.backspace),
        .character("N"),
      ],
      in: [.question], label: "n Enter Esc", help: "answer: no", group: .acting,
      footer: ("n", "No"), changesProcess: false),
    KeyBinding(
      .answerYes, [.character("y")], in: [.question], label: "y", help: "answer: yes",
      group: .acting, footer: ("y", "Yes"), changesProcess: true),
    KeyBinding(
      .answerAlso, [.character("a")], in: [.question], label: "a",
      help: "answer: yes, and all that depends on it", group: .acting,
      footer: ("a", "Also"), changesProcess: true),
  ]
}
