// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A replacement for the function that starts threads. It can be made to fail.
final class FailingStarter: Sendable {
  enum Mode {
    case succeeds, fails, failsTimes(Int), failsAtRandom(seed: UInt64, percentage: Int)
  }

  private struct State {
    var mode = Mode.succeeds
    var failureCount = 0
  }

  private let state = Locked(State())

  var mode: Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  var failureCount: Int { state.withLock { $0.failureCount } }

  func makePool() -> WorkerPool {
    WorkerPool(WorkerPoolConfiguration(processorCount: 2)) { [self] body, context, stackSize in
      fails() ? EAGAIN : csystem_start_thread_with_stack(body, context, stackSize)
    }
  }

  private func fails() -> Bool {
    state.withLock { state in
      let fails: Bool
      switch state.mode {
      case .succeeds: fails = false
      case .fails: fails = true
      case .failsTimes(let count):
        fails = count > 0
        state.mode = .failsTimes(max(0, count - 1))
      case .failsAtRandom(let seed, let percentage):
        var random = SeededGenerator(seed: seed)
        fails = Int.random(in: 0..<100, using: &random) < percentage
        state.mode = .failsAtRandom(seed: random.next(), percentage: percentage)
      }
      if fails { state.failureCount += 1 }
      return fails
    }
  }
}
