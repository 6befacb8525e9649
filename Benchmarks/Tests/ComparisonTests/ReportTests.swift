// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

@Suite struct ReportTests {
  @Test func timesAndRatiosHaveTheSizesAcross() {
    let results = Results([
      (Subject(.flat, 1_000, .operations), [200]), (Subject(.flat, 10_000, .operations), [300]),
      (Subject(.flat, 1_000, .foundation), [4_000]), (Subject(.chain, 1_000, .dispatch), [70]),
    ])
    #expect(
      Report(results).text == """
        What the package promises, on the machine above:

        | promise             | at most | measured | kept |
        | ------------------- | ------: | -------: | ---: |
        | flat, to Foundation |    0.10 |   0.0500 |  yes |

        Nanoseconds per operation; growth: the last figure of a row divided by the first:

        | workload | by         |  10^3 | 10^4 | growth |
        | -------- | ---------- | ----: | ---: | -----: |
        | flat     | Operations |   200 |  300 |   1.50 |
        | flat     | Foundation | 4,000 |    – |      – |
        | chain    | Dispatch   |    70 |    – |      – |

        Ours divided by the others' (below 1 ours is faster); growth: of ours:

        | workload | ours to    |   10^3 | 10^4 | growth |
        | -------- | ---------- | -----: | ---: | -----: |
        | flat     | Foundation | 0.0500 |    – |   1.50 |

        """)
  }

  @Test func otherMeasuresHaveSeparateTables() {
    let results = Results([
      (Subject(.memory, 1_000_000, .operations), [241]),
      (Subject(.startIdle, 1_000, .dispatch), Array(1...100).map { $0 * 1_000 }),
      (Subject(.sleepersWide, 100, .operations), [1_010]),
    ])
    #expect(
      Report(results).text == """
        What the package promises, on the machine above:

        | promise                     | at most | measured | kept |
        | --------------------------- | ------: | -------: | ---: |
        | bytes for a block operation |     240 |      241 |   no |
        | ms, 100 sleepers, width 100 |   1,100 |    1,010 |  yes |

        Bytes for each operation that waits:

        | workload | by         | 10^6 |
        | -------- | ---------- | ---: |
        | memory   | Operations |  241 |

        Microseconds from adding a block until it begins:

        | workload   | by       |  p50 |  p99 |
        | ---------- | -------- | ---: | ---: |
        | start-idle | Dispatch | 50.0 | 99.0 |

        Milliseconds until sleepers of one second have finished:

        | workload      | by         | 100 sleepers |
        | ------------- | ---------- | -----------: |
        | sleepers-wide | Operations |        1,010 |

        """)
  }

  @Test func graphsOfAMillionOperationsHaveLimits() {
    let results = Results([
      (Subject(.random, 1_000, .operations), [300]),
      (Subject(.random, 1_000_000, .operations), [500]),
      (Subject(.random, 1_000_000, .tbbFlowGraph), [400]),
      (Subject(.pingPong, 1_000_000, .operations), [120]),
      (Subject(.pingPong, 1_000_000, .dispatch), [100]),
    ])
    #expect(
      Report(results).text.contains(
        """
        Graphs of a million operations: ours divided by the others', and growth of ours:

        | promise                           | at most | measured | kept |
        | --------------------------------- | ------: | -------: | ---: |
        | random of 10^6, to TBB flow graph |    1.00 |     1.25 |   no |
        | ping-pong of 10^6, to Dispatch    |    1.50 |     1.20 |  yes |
        | random, growth from 10^3 to 10^6  |    2.00 |     1.67 |  yes |

        """))
  }

  @Test func theRatioOfAGraphIsTheRatioOfTheMediansOfAllRounds() {
    let ours = Subject(.layers, 1_000_000, .operations)
    let theirs = Subject(.layers, 1_000_000, .tbbFlowGraph)
    let results = Results([
      (ours, [100]), (theirs, [90]), (ours, [900]), (theirs, [100]), (ours, [110]), (theirs, [800]),
    ])
    #expect(Promise.graphs.compactMap { $0.figure(results) } == [1.1])
  }

  @Test func chainAndTreeAreComparedWithFlatDispatch() {
    let results = Results([
      (Subject(.flat, 1_000, .dispatch), [100]), (Subject(.flat, 1_000_000, .dispatch), [200]),
      (Subject(.chain, 1_000_000, .operations), [100]), (Subject(.chain, 1_000, .operations), [9]),
      (Subject(.tree, 1_000, .operations), [300]),
    ])
    let figures = Dictionary(
      uniqueKeysWithValues: Promise.all.compactMap { promise in
        promise.figure(results).map { (promise.title, $0) }
      })
    #expect(figures == ["chain, to Dispatch's flat": 0.5, "tree, to Dispatch's flat": 3])
  }
}
