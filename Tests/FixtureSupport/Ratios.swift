// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Returns the median of a non-empty array.
package func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Returns by how many percent a ratio differs from 1, as text such as `-0.057 %`.
package func percent(_ ratio: Double) -> String {
  let thousandths = Int(((ratio - 1) * 100_000).rounded())
  return "\(thousandths < 0 ? "-" : "+")\(abs(thousandths) / 1_000)."
    + String(String(abs(thousandths) % 1_000 + 1_000).dropFirst()) + " %"
}
