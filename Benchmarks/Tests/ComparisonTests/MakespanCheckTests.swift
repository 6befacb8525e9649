// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import Comparison

@Suite struct MakespanCheckTests {
  /// Creates a check with rounds of one workflow. The simulated time is 100 ms.
  private func makeCheck(_ milliseconds: [Int], width: Int = 4) -> MakespanCheck {
    var check = MakespanCheck()
    for time in milliseconds {
      check.add(
        "blast", width: width, simulated: .milliseconds(100), measured: .milliseconds(time))
    }
    return check
  }

  @Test func theMedianOfTheRoundsDecides() {
    #expect(makeCheck([150, 102, 101, 102, 160]).passes)
    #expect(!makeCheck([101, 103, 101, 103, 103]).passes)
  }

  @Test func eachWorkflowAndWidthHasToPass() {
    var check = makeCheck([101])
    check.add("blast", width: 16, simulated: .milliseconds(100), measured: .milliseconds(103))
    #expect(!check.passes)
  }

  @Test func withoutMeasurementsTheCheckFails() {
    #expect(!MakespanCheck().passes)
  }

  @Test func theTableHasARowForEachWorkflowAndWidth() {
    var check = makeCheck([101, 102, 109])
    check.add("montage", width: 64, simulated: .milliseconds(200), measured: .milliseconds(210))
    #expect(
      check.text == """
        | workflow | width | simulated, ms | measured, ms |  ratio | kept |
        | -------- | ----: | ------------: | -----------: | -----: | ---: |
        | blast    |     4 |         100.0 |        102.0 | 1.0200 |  yes |
        | montage  |    64 |         200.0 |        210.0 | 1.0500 |   no |

        """)
  }
}
