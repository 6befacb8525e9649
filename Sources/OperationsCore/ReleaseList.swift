// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Releases operations one after the other instead of one inside the other, so that letting go of
/// a chain of a million needs no stack.
///
/// The outermost release on a thread works off a list; a release that happens inside a `deinit`
/// which that caused only adds to the list.
enum ReleaseList {
  /// Lies on the stack of the outermost release.
  private struct Pending {
    /// Linked through `inboxNext`, each with the last reference to it: what nobody else refers to is
    /// in no inbox.
    var first: Unmanaged<Operation>?
  }

  static func release(_ operation: consuming Operation) {
    var reference: Operation? = consume operation
    // Only the last reference can lead on to a `deinit`. Who finishes a dependency may still take one
    // for a moment, but pushes nothing that is in no queue.
    // Where two threads let go of the last two at the same time neither finds its own to be the last,
    // and one of them goes one level deeper, from where the next one is put on the list again.
    guard isKnownUniquelyReferenced(&reference), let last = reference.take() else { return }
    if let current = csystem_current_release() {
      let pending = current.assumingMemoryBound(to: Pending.self)
      last.inboxNext = pending.pointee.first
      pending.pointee.first = .passRetained(consume last)
    } else {
      // It still says what was released after it by the queue that it left.
      last.inboxNext = nil
      releaseAll(from: .passRetained(consume last))
    }
  }

  private static func releaseAll(from operation: Unmanaged<Operation>) {
    var pending = Pending(first: operation)
    withUnsafeMutablePointer(to: &pending) { pending in
      csystem_set_current_release(pending)
      while let next = pending.pointee.first {
        next._withUnsafeGuaranteedRef { pending.pointee.first = $0.inboxNext }
        next.release()
      }
      csystem_set_current_release(nil)
    }
  }
}
