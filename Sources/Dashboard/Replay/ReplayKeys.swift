// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The keys that control a recording. They take precedence over the keys of ``KeyTable/bindings``.
enum ReplayKeys {
  /// The contexts in which the keys control the recording: all views.
  static let contexts: Set<KeyContext> = [
    .list, .tree, .queues, .timeline, .events, .detail, .log, .warnings, .queue, .groups,
  ]

  /// Returns the replay action of a key in a context; `nil` if the key has no replay action there.
  static func action(for input: Input, in context: KeyContext) -> KeyAction? {
    contexts.contains(context) ? actions[input] : nil
  }

  private static let actions: [Input: KeyAction] = Dictionary(
    bindings.flatMap { binding in binding.inputs.map { ($0, binding.action) } },
    uniquingKeysWith: { first, _ in first })

  /// All keys of a replay, for help and footers: the replay keys, and the keys of the dashboard that have no
  /// other action during a replay and do not change the process.
  static let all: [KeyBinding] = bindings + others(in: KeyTable.bindings)

  /// Returns the keys of the dashboard that exist during a replay.
  static func others(in all: [KeyBinding]) -> [KeyBinding] {
    all.filter { binding in
      // The keys that answer a question are left out, because the dashboard asks no questions during a
      // replay.
      !binding.changesProcess && !hidden.contains(binding.action) && binding.contexts != [.question]
    }
  }

  /// The actions that do not exist during a replay: actions on tagged operations, and actions whose keys are
  /// replay keys.
  private static let hidden: Set<KeyAction> = [
    .command(.tag), .command(.tagWithDependents), .command(.untagAll), .screen(.pause),
    .program(.changeRefresh),
  ]

  private static func words(_ text: String) -> [KeyContext: String] {
    Dictionary(uniqueKeysWithValues: contexts.map { ($0, text) })
  }

  /// All replay keys, in the order of help and footers.
  static let bindings: [KeyBinding] = [
    KeyBinding(
      .replay(.togglePlaying), [.character(" "), .character("p"), .character("Z")], in: contexts,
      label: "Space p Z", help: "play or pause", group: .acting,
      footer: ("Space", words("Play"))),
    KeyBinding(
      .replay(.stepBack), [.character(",")], in: contexts, label: ",", help: "previous update",
      group: .acting, footer: (",", words("-1"))),
    KeyBinding(
      .replay(.stepForward), [.character(".")], in: contexts, label: ".", help: "next update",
      group: .acting, footer: (".", words("+1"))),
    KeyBinding(
      .replay(.slower), [.character("[")], in: contexts, label: "[", help: "half speed",
      group: .acting, footer: ("[", words("Slower"))),
    KeyBinding(
      .replay(.faster), [.character("]")], in: contexts, label: "]", help: "double speed",
      group: .acting, footer: ("]", words("Faster"))),
    KeyBinding(
      .replay(.seekBack), [.character("(")], in: contexts, label: "(", help: "5 s back",
      group: .acting, footer: ("(", words("-5s"))),
    KeyBinding(
      .replay(.seekForward), [.character(")")], in: contexts, label: ")", help: "5 s forward",
      group: .acting, footer: (")", words("+5s"))),
    KeyBinding(
      .replay(.seekFarBack), [.alt("b")], in: contexts, label: "Alt-b", help: "1 minute back",
      group: .acting),
    KeyBinding(
      .replay(.seekFarForward), [.alt("f")], in: contexts, label: "Alt-f", help: "1 minute forward",
      group: .acting),
    KeyBinding(
      .replay(.toStart), [.alt("<")], in: contexts, label: "Alt-<", help: "go to the beginning",
      group: .acting),
    KeyBinding(
      .replay(.toEnd), [.alt(">")], in: contexts, label: "Alt->", help: "go to the end",
      group: .acting),
    KeyBinding(
      .replay(.goToTime), [.character("@")], in: contexts, label: "@", help: "go to a time",
      group: .acting, footer: ("@", words("Time"))),
    KeyBinding(
      .replay(.previousWarning), [.character("{")], in: contexts, label: "{",
      help: "previous warning", group: .acting),
    KeyBinding(
      .replay(.nextWarning), [.character("}")], in: contexts, label: "}",
      help: "next warning",
      group: .acting, footer: ("}", words("Warning"))),
  ]
}
