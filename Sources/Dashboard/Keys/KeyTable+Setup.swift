// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension KeyTable {
  /// The keys of the setup, except for the key that opens it.
  static let setup: [KeyBinding] = [
    KeyBinding(
      .setup(.change), [.character(" ")], in: [.setup], label: "Space",
      help: "switch on or off", group: .acting, footer: ("Space", [.setup: "Change"])),
    KeyBinding(
      .setup(.moveDown), [.character("}"), .function(8)], in: [.setup], label: "} F8",
      help: "move the column down", group: .acting, footer: ("}", [.setup: "Down"])),
    KeyBinding(
      .setup(.moveUp), [.character("{"), .function(7)], in: [.setup], label: "{ F7",
      help: "move the column up", group: .acting, footer: ("{", [.setup: "Up"])),
    KeyBinding(
      .setup(.increase), [.character("+"), .character("=")], in: [.setup], label: "+ =",
      help: "wider, or next value", group: .acting, footer: ("+", [.setup: "Wider"])),
    KeyBinding(
      .setup(.decrease), [.character("-")], in: [.setup], label: "-",
      help: "narrower, or value before", group: .acting),
    KeyBinding(
      .setup(.automatic), [.character("a")], in: [.setup], label: "a",
      help: "automatic width", group: .acting),
    KeyBinding(
      .setup(.save), [.character("s")], in: [.setup], label: "s", help: "save the settings",
      group: .acting, footer: ("s", [.setup: "Save"])),
    KeyBinding(
      .setup(.changeSide), [.key(.tab), .key(.backTab)], in: [.setup], label: "Tab",
      help: "settings, or columns", group: .moving, footer: ("Tab", [.setup: "Settings"])),
  ]
}
