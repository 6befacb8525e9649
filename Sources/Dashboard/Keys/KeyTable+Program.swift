// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension KeyTable {
  /// The keys that concern the display and the program.
  static let program: [KeyBinding] = [
    KeyBinding(
      .screen(.pause), [.character("p"), .character("Z")], in: viewing, label: "p Z",
      help: "pause the display", group: .acting,
      footer: (
        "p",
        [
          .list: "Pause", .tree: "Pause", .queues: "Pause", .timeline: "Pause", .events: "Pause",
          .detail: "Pause", .log: "Pause", .queue: "Pause", .groups: "Pause",
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
      .setup(.toggle), [.function(2), .character("C")], in: viewing.union([.picker, .setup]),
      label: "F2 C", help: "settings and columns", group: .program,
      footer: ("F2", [.list: "Setup"])),
    KeyBinding(
      .screen(.toggleName), [.character("w")], in: browsing.union(history), label: "w",
      help: "show or hide full name", group: .looking),
    KeyBinding(
      .program(.changeRefresh), [.character("["), .character("]")], in: viewing, label: "[ ]",
      help: "slower/faster refresh", group: .looking),
    KeyBinding(
      .screen(.toggleMeters), [.character("#")],
      in: viewing.subtracting([.detail, .log, .warnings, .queue]),
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
          .queue: "Back", .groups: "Back", .setup: "Back",
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
}
