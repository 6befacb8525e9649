// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The keys of a recording that is played. They come before those of ``KeyTable/bindings``.
enum ReplayKeys {
  /// In every view.
  static let contexts: Set<KeyContext> = [.list, .tree, .queues, .timeline, .events, .detail]

  /// What a key means where it is pressed; `nil` for what it means elsewhere, too.
  static func action(for input: Input, in context: KeyContext) -> KeyAction? {
    contexts.contains(context) ? actions[input] : nil
  }

  private static let actions: [Input: KeyAction] = Dictionary(
    bindings.flatMap { binding in binding.inputs.map { ($0, binding.action) } },
    uniquingKeysWith: { first, _ in first })

  /// What help and footers name: these keys, and the others but for those that mean something else here,
  /// or would change the process.
  static let all: [KeyBinding] =
    bindings
    + KeyTable.bindings.filter { binding in
      // Nothing is asked.
      !binding.changesProcess && !hidden.contains(binding.action) && binding.contexts != [.question]
    }

  /// What acts on what is tagged, and what these keys stand for here.
  private static let hidden: Set<KeyAction> = [
    .command(.tag), .command(.tagWithDependents), .command(.untagAll), .screen(.pause),
    .program(.changeRefresh),
  ]

  private static func words(_ text: String) -> [KeyContext: String] {
    Dictionary(uniqueKeysWithValues: contexts.map { ($0, text) })
  }

  static let bindings: [KeyBinding] = [
    KeyBinding(
      .replay(.togglePlaying), [.character(" "), .character("p"), .character("Z")], in: contexts,
      label: "Space p Z", help: "play, or stand still", group: .acting,
      footer: ("Space", words("Play"))),
    KeyBinding(
      .replay(.stepBack), [.character(",")], in: contexts, label: ",", help: "one update back",
      group: .acting, footer: (",", words("-1"))),
    KeyBinding(
      .replay(.stepForward), [.character(".")], in: contexts, label: ".", help: "one update on",
      group: .acting, footer: (".", words("+1"))),
    KeyBinding(
      .replay(.slower), [.character("[")], in: contexts, label: "[", help: "half as fast",
      group: .acting, footer: ("[", words("Slower"))),
    KeyBinding(
      .replay(.faster), [.character("]")], in: contexts, label: "]", help: "twice as fast",
      group: .acting, footer: ("]", words("Faster"))),
    KeyBinding(
      .replay(.seekBack), [.character("(")], in: contexts, label: "(", help: "5 s back",
      group: .acting, footer: ("(", words("-5s"))),
    KeyBinding(
      .replay(.seekForward), [.character(")")], in: contexts, label: ")", help: "5 s on",
      group: .acting, footer: (")", words("+5s"))),
    KeyBinding(
      .replay(.seekFarBack), [.alt("b")], in: contexts, label: "Alt-b", help: "a minute back",
      group: .acting),
    KeyBinding(
      .replay(.seekFarForward), [.alt("f")], in: contexts, label: "Alt-f", help: "a minute on",
      group: .acting),
    KeyBinding(
      .replay(.toStart), [.alt("<")], in: contexts, label: "Alt-<", help: "to the beginning",
      group: .acting),
    KeyBinding(
      .replay(.toEnd), [.alt(">")], in: contexts, label: "Alt->", help: "to the end",
      group: .acting),
    KeyBinding(
      .replay(.previousWarning), [.character("{")], in: contexts, label: "{",
      help: "to the warning before", group: .acting),
    KeyBinding(
      .replay(.nextWarning), [.character("}")], in: contexts, label: "}",
      help: "to the next warning",
      group: .acting, footer: ("}", words("Warning"))),
  ]
}
