// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Which operations' changes the calling thread is announcing, so that it does not wait for one of
/// them: it could only wait for itself.
enum Delivery {
  /// Lives on the stack of the thread; the innermost first.
  private struct Frame {
    let operation: Unmanaged<Operation>
    let outer: UnsafeMutableRawPointer?
  }

  /// Notes for the time of `body` that this thread announces a change of the operation.
  @inline(__always)
  static func during<Result>(_ operation: Operation, _ body: () -> Result) -> Result {
    let outer = csystem_current_delivery()
    var frame = Frame(operation: .passUnretained(operation), outer: outer)
    return withUnsafeMutablePointer(to: &frame) { frame in
      csystem_set_current_delivery(frame)
      defer { csystem_set_current_delivery(outer) }
      return body()
    }
  }

  static func isUnderWay(for operation: Operation) -> Bool {
    var current = csystem_current_delivery()
    while let frame = current?.assumingMemoryBound(to: Frame.self).pointee {
      if frame.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
        return true
      }
      current = frame.outer
    }
    return false
  }
}
