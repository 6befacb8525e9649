// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Starts a thread that runs `body`, and does not wait for it.
package func startThread(stackSize: Int = 1 << 21, _ body: @escaping @Sendable () -> Void) {
  final class Context {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, stackSize)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let error = pthread_create(
    &thread, &attributes,
    { context in
      if let context { Unmanaged<Context>.fromOpaque(context).takeRetainedValue().body() }
      return nil
    }, Unmanaged.passRetained(Context(body)).toOpaque())
  precondition(error == 0, "No thread can be started: error \(error)")
  pthread_attr_destroy(&attributes)
}
