// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch

/// Runs the work for which another process has started this one, and ends this process. Returns at once in a process
/// that was started for another purpose.
///
/// Call it first in `main`, because all code before this call also runs in each process that is started for work:
///
/// ```swift
/// serveRemoteWork(Thumbnail.self, Index.self)
/// // The program begins here.
/// ```
///
/// In a process that was started for work, the function does not return. It runs the work, writes the output, and
/// exits, after the exit handlers of the C library. Each line of the standard output is written at once.
///
/// A ``RemoteOperation`` runs only work whose type was passed to this function in its own process. So a program that
/// does not call this function cannot start itself again and again.
///
/// In an asynchronous `main`, or in a `main.swift` with `await`, call ``serveRemoteWork(of:)`` instead: only then does
/// code on the main actor run during the work.
///
/// - Parameter types: The types of work that this program runs with a ``RemoteOperation``.
/// - Precondition: It is called once, before an operation of the program starts. The types have different names.
@available(*, noasync, message: "Call serveRemoteWork(of:) with await.")
public func serveRemoteWork(_ types: any RemoteWork.Type...) {
  guard let child = RemoteChild(types) else { return }
  Task.detached { await child.run() }
  // The first thread runs the main queue, which runs the code on the main actor.
  if csystem_is_first_thread() { dispatchMain() }
  DispatchSemaphore(value: 0).wait()
}

/// Runs the work for which another process has started this one, and ends this process. Returns at once in a process
/// that was started for another purpose.
///
/// This is ``serveRemoteWork(_:)`` for an asynchronous `main`, and for a `main.swift` with `await`:
///
/// ```swift
/// @main struct Program {
///   static func main() async throws {
///     await serveRemoteWork(of: Thumbnail.self, Index.self)
///     // The program begins here.
///   }
/// }
/// ```
///
/// - Parameter types: The types of work that this program runs with a ``RemoteOperation``.
/// - Precondition: It is called once, before an operation of the program starts. The types have different names.
public func serveRemoteWork(of types: any RemoteWork.Type...) async {
  guard let child = RemoteChild(types) else { return }
  await child.run()
}
