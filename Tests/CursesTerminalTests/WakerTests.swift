// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dispatch
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite(.timeLimit(.minutes(10))) struct WakerTests {
  private func isReadable(_ waker: Waker, within milliseconds: Int32 = 0) -> Bool {
    var entry = pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }

  @Test func manyRingsWakeOnce() throws {
    let waker = try Waker()
    #expect(!isReadable(waker))
    for _ in 0..<1_000 { waker.ring() }
    #expect(isReadable(waker))
    waker.answer()
    #expect(!isReadable(waker))
    waker.ring()
    #expect(isReadable(waker))
  }

  @Test func noRingIsLostBetweenThreads() throws {
    let waker = try Waker()
    let work = Atomic(0)
    let rounds = 20_000
    DispatchQueue.global().async {
      for _ in 0..<rounds {
        work.add(1, ordering: .releasing)
        waker.ring()
      }
    }
    while work.load(ordering: .acquiring) < rounds {
      try #require(isReadable(waker, within: 10_000), "a ring was lost")
      waker.answer()
    }
  }
}
