// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Releases operations one after the other instead of one inside the other, so that letting go of
/// a chain of a million needs no stack.
///
/// The outermost release on a thread works off a list; a release that happens inside a `deinit`
/// which that caused only adds to the list.
enum ReleaseList {
  private final class Pending {
    var operations: [Operation] = []
  }

  static func release(_ operation: consuming Operation) {
    if let current = csystem_current_release() {
      Unmanaged<Pending>.fromOpaque(current).takeUnretainedValue().operations.append(operation)
      return
    }
    var reference: Operation? = consume operation
    // Only the last reference can lead on to a `deinit`, and then nobody else can make it shared.
    if isKnownUniquelyReferenced(&reference), let last = reference.take() { releaseAll(from: last) }
  }

  private static func releaseAll(from operation: consuming Operation) {
    let pending = Pending()
    pending.operations.append(consume operation)
    csystem_set_current_release(Unmanaged.passUnretained(pending).toOpaque())
    // `popLast` hands out the reference: it is the last one when the loop lets go of it.
    while let next = pending.operations.popLast() { withExtendedLifetime(next) {} }
    csystem_set_current_release(nil)
  }
}
