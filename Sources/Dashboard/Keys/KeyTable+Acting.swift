// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension KeyTable {
  /// The keys that act on operations and queues.
  static let acting: [KeyBinding] = [
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
          .detail: "Cancel", .warnings: "Cancel", .queue: "Cancel",
        ]
      ),
      changesProcess: true),
    KeyBinding(
      .command(.armCancelKeys), [.character("X")], in: browsing, label: "X + letter",
      help: "cancel row by its letter", group: .acting,
      footer: ("X", [.list: "By key", .tree: "By key"]),
      changesProcess: true),
    KeyBinding(
      .command(.retry), [.character("T")], in: viewing.subtracting([.groups]), label: "T",
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
      .queue(.toggleSuspended), [.character("S")], in: viewing.subtracting([.groups]),
      label: "S",
      help: "suspend/resume the queue", group: .acting,
      footer: ("S", [.queues: "Suspend", .queue: "Suspend", .timeline: "Suspend"]),
      changesProcess: true),
    KeyBinding(
      .queue(.narrow), [.character("-")], in: [.queues, .queue, .warnings], label: "- (queues)",
      help: "decrease queue width", group: .acting,
      footer: ("-", [.queues: "Narrower", .queue: "Narrower"]),
      changesProcess: true),
    KeyBinding(
      .queue(.widen), [.character("+"), .character("=")], in: [.queues, .queue, .warnings],
      label: "+ (queues)",
      help: "increase queue width", group: .acting,
      footer: ("+", [.queues: "Wider", .queue: "Wider"]),
      changesProcess: true),
    KeyBinding(
      .queue(.setRate), [.character("r")], in: [.queues, .queue], label: "r (queues)",
      help: "limit the starts", group: .acting,
      footer: ("r", [.queues: "Limit", .queue: "Limit"]), changesProcess: true),
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
    KeyBinding(
      .screen(.copy), [.character("y")], in: viewing, label: "y",
      help: "copy the selected line", group: .acting),
  ]
}
