// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import Testing

@Suite("Qualities of service of the library and of Foundation")
struct QualityOfServiceTests {
  @Test(
    "Each level becomes the one of the same name, both ways",
    arguments: QualityOfService.allCases)
  func conversion(_ level: QualityOfService) {
    let converted = Foundation.QualityOfService(level)
    #expect("\(converted)" == "\(level)")
    #expect(QualityOfService(converted) == level)
  }

  @Test("A thread of Foundation's can be given the level of the work that it is for")
  func thread() {
    let thread = Thread {}
    thread.qualityOfService = Foundation.QualityOfService(QualityOfService.utility)
    #expect(QualityOfService(thread.qualityOfService) == .utility)
  }
}
