// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The style sheet of a report, for light and dark screens, and for paper.
enum ReportStyle {
  static let text = """
    :root {
      --paper: #ffffff; --panel: #f6f7f9; --ink: #1b1f24; --faint: #5b6470; --line: #dfe3e8;
      --work: #2f7d4f; --slot-wait: #d08700; --dependency-wait: #7a5cc0; --unaccounted: #9aa3ad;
      --critical: #c2185b;
      --class0: #3b78b5; --class1: #e08a2c; --class2: #3f9a63; --class3: #b35aa3; --class4: #8c6d4f;
      --class5: #4aa3a8; --class6: #c05a52; --other: #8a94a0; --several: #b9c1ca;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #14171b; --panel: #1d2126; --ink: #e7eaee; --faint: #9aa4b0; --line: #333a42;
        --work: #5cb884; --slot-wait: #f0b03f; --dependency-wait: #a88bea; --unaccounted: #6f7984;
        --critical: #ff5c97;
        --class0: #6ea8de; --class1: #f2ab5e; --class2: #6cc48d; --class3: #d58cc8; --class4: #b9987a;
        --class5: #76c9cd; --class6: #e38780; --other: #79838e; --several: #59636e;
      }
    }
    @media print {
      :root {
        --paper: #ffffff; --panel: #ffffff; --ink: #000000; --faint: #444444; --line: #cccccc;
        --work: #2f7d4f; --slot-wait: #d08700; --dependency-wait: #7a5cc0; --unaccounted: #9aa3ad;
        --critical: #c2185b;
        --class0: #3b78b5; --class1: #e08a2c; --class2: #3f9a63; --class3: #b35aa3; --class4: #8c6d4f;
        --class5: #4aa3a8; --class6: #c05a52; --other: #8a94a0; --several: #b9c1ca;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; max-width: 1180px; padding: 24px; background: var(--paper); color: var(--ink);
      font: 14px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums;
    }
    h1 { margin: 0; font-size: 24px; }
    h2 { margin: 0 0 8px; font-size: 17px; }
    header p { margin: 4px 0; color: var(--faint); }
    header b { color: var(--ink); }
    .remark { padding: 8px 12px; border-left: 4px solid var(--slot-wait); background: var(--panel); }
    section { margin: 28px 0; }
    section > p { margin: 4px 0 8px; }
    .note, footer { color: var(--faint); font-size: 12px; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; }
    .tiles { margin: 20px 0; }
    .tiles div { padding: 12px 14px; border: 1px solid var(--line); border-radius: 8px; }
    .tiles div { background: var(--panel); }
    .tiles b { display: block; font-size: 22px; line-height: 1.2; }
    .tiles span { display: block; }
    .tiles small { color: var(--faint); }
    table { border-collapse: collapse; width: 100%; }
    th, td { padding: 3px 10px 3px 0; text-align: left; border-bottom: 1px solid var(--line); }
    th { color: var(--faint); font-weight: 500; white-space: nowrap; }
    td { vertical-align: middle; }
    .n { text-align: right; white-space: nowrap; }
    .n + :not(.n) { padding-left: 14px; }
    .id { color: var(--faint); }
    td:has(> i) { white-space: nowrap; }
    .scroll { overflow-x: auto; }
    .shares { width: 100%; max-width: 640px; margin: 8px 0; }
    .shares th, .shares td { border: 0; white-space: nowrap; }
    .shares .wide { width: 60%; }
    .meter { display: block; height: 10px; min-width: 2px; border-radius: 2px; }
    i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px; }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 12px; }
    svg { display: block; width: 100%; height: auto; }
    svg text { font-size: 11px; fill: var(--ink); }
    svg .queue { font-weight: 600; font-size: 12px; }
    svg .tick { fill: var(--faint); font-size: 10px; text-anchor: middle; }
    svg .tick.last { text-anchor: end; }
    svg .tick-left { fill: var(--faint); font-weight: 400; font-size: 11px; }
    svg .lane { fill: var(--faint); font-size: 9px; text-anchor: end; }
    svg .grid { stroke: var(--line); stroke-width: 1; }
    svg .base { stroke: var(--faint); stroke-width: 0.6; }
    .spark { width: 144px; height: 25px; }
    .area.executing { fill: var(--work); }
    .area.ready { fill: var(--slot-wait); }
    .critical { stroke: var(--critical); stroke-width: 2; }
    .critical-key { background: none; border: 2px solid var(--critical); }
    .cancelled { fill-opacity: 0.25; stroke: var(--critical); stroke-dasharray: 2 2; stroke-width: 1; }
    .cancelled-key { border: 1px dashed var(--critical); opacity: 0.6; }
    .open { fill-opacity: 0.55; }
    \(fills)
    @media print {
      @page { size: A4 landscape; margin: 12mm; }
      body { max-width: none; padding: 0; font-size: 10px; }
      .scroll { overflow: visible; }
      h2, .legend { break-after: avoid; }
      section, .tiles { break-inside: avoid-page; }
      tr, svg { break-inside: avoid; }
      * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
    }
    """

  /// The CSS of the colors that have a meaning, such as a class of operations, in drawings and in
  /// legends.
  private static var fills: String {
    let names =
      ["work", "slot-wait", "dependency-wait", "unaccounted", "other", "several"]
      + (0..<KindColors.count).map { "class\($0)" }
    return names.map { name in
      "rect.\(name) { fill: var(--\(name)); } i.\(name), .meter.\(name) { background: var(--\(name)); }"
    }.joined(separator: "\n")
  }
}
