// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Formats large numbers.
enum CountText {
  /// Returns a number with commas between thousands: `1,000,000`.
  static func text(_ count: Int) -> String {
    var text = ""
    for (index, digit) in String(count.magnitude).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (count < 0 ? "-" : "") + String(text.reversed())
  }

  /// Returns a number and the singular or the plural of a noun: `1 run`, `1,204 runs`.
  static func text(_ count: Int, _ noun: String) -> String {
    "\(text(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns a number in this number of cells. The number has commas if they fit: `881,119`. Otherwise it is
  /// abbreviated and rounded down: `881k`, `1.2M`. An abbreviated number takes at most four cells.
  static func text(_ count: Int, cells: Int) -> String {
    let whole = text(count)
    if whole.utf8.count <= cells { return whole }
    var (rest, tenths) = (count.magnitude, UInt(0))
    var unit = ""
    for next in ["k", "M", "G", "T", "P", "E"] where rest >= 1_000 {
      (rest, tenths) = (rest / 1_000, rest % 1_000 / 100)
      unit = next
    }
    let sign = count < 0 ? "-" : ""
    let fine = "\(sign)\(rest).\(tenths)\(unit)"
    return rest < 10 && fine.utf8.count <= cells ? fine : "\(sign)\(rest)\(unit)"
  }

  /// Returns the text of a rate, with one decimal place below 10 and otherwise as a whole number in this number
  /// of cells.
  static func rate(_ rate: Double, cells: Int) -> String {
    guard rate < 10 else { return text(Int(min(rate, 1e15)), cells: cells) }
    let tenths = Int((max(0, rate) * 10).rounded())
    return tenths == 0 ? "0" : "\(tenths / 10).\(tenths % 10)"
  }
}
