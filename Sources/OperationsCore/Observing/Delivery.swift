// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Which operations' changes the calling thread is announcing, so that it does not wait for one of
/// them: it could only wait for itself.
enum Delivery {
  /// Lives on the stack of the thread; the innermost first.
  private struct Frame {
    let operation: Unmanaged<Operation>
    /// Whether the base class announces a change of its own by a method that may be overridden.
    let isOwnChange: Bool
    let outer: UnsafeMutableRawPointer?
  }

  /// Notes for the time of `body` that this thread announces a change of the operation.
  @inline(__always)
  static func during<Result>(
    _ operation: Operation, isOwnChange: Bool = false, _ body: () -> Result
  ) -> Result {
    let outer = csystem_current_delivery()
    var frame = Frame(
      operation: .passUnretained(operation), isOwnChange: isOwnChange, outer: outer)
    return withUnsafeMutablePointer(to: &frame) { frame in
      csystem_set_current_delivery(frame)
      defer { csystem_set_current_delivery(outer) }
      return body()
    }
  }

  /// Whether what is announced on this thread at the moment is a change that the base class has made.
  static func isOwnChange(of operation: Operation) -> Bool {
    guard let frame = csystem_current_delivery()?.assumingMemoryBound(to: Frame.self).pointee else {
      return false
    }
    return frame.isOwnChange
      && frame.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
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
