// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol
import MonitorTransport
import NIOCore
import NIOPosix

/// Finds the processes that can be watched.
package enum ProcessFinder {
  /// A process that was found.
  package struct Found: Sendable, Equatable {
    /// The path of the process's socket.
    package var path: String
    /// The process id in the name of the socket.
    package var processID: Int32
    /// The greeting of the process, or the reason why the process cannot be watched.
    package var answer: Result<Greeting, AttachError>
  }

  /// The greeting of a process and the versions of the protocol that it understands.
  package struct Greeting: Sendable, Equatable {
    package var hello: Hello
    package var versions: ProtocolVersions
  }

  /// The maximum time to wait for a process's greeting. A slower process is treated as a process
  /// that does not answer.
  static let patience = TimeAmount.milliseconds(200)

  /// Returns the processes of this user that a viewer can connect to, sorted by process id. The
  /// call takes as long as the slowest answer.
  package static func find() -> [Found] {
    var paths: [String: Int32] = [:]
    for directory in MonitorDirectory.candidates() where (try? directory.check()) != nil {
      for fileName in directory.fileNames where fileName.hasSuffix(".sock") {
        guard let name = MonitorSocketName(fileName: fileName) else { continue }
        paths[directory.path(of: fileName)] = name.processID
      }
    }
    guard !paths.isEmpty else { return [] }
    let loop = ConnectionLoop.shared
    let probes = paths.map { ($0.key, $0.value, greeting(of: $0.key, on: loop)) }
    let found = probes.compactMap { path, process, greeting -> Found? in
      do {
        return Found(path: path, processID: process, answer: .success(try greeting.wait()))
      } catch {
        let error = error as? AttachError ?? AttachError(.lost, "\(error)")
        // A process that has crashed leaves its socket behind. Such a socket is skipped.
        if error.kind == .nothingThere { return nil }
        return Found(path: path, processID: process, answer: .failure(error))
      }
    }
    return found.sorted { ($0.processID, $0.path) < ($1.processID, $1.path) }
  }

  private static func greeting(
    of path: String, on loop: any EventLoop
  ) -> EventLoopFuture<Greeting> {
    let promise = loop.makePromise(of: Greeting.self)
    loop.execute {
      let connection = ProcessConnection(path: path, isReadOnly: true) { event in
        switch event {
        case .greeted(let hello, let versions):
          promise.succeed(Greeting(hello: hello, versions: versions))
        case .heard: break
        case .closed(let error): promise.fail(error)
        }
      }
      let me = NIOLoopBound(connection, eventLoop: loop)
      let expiry = loop.scheduleTask(in: patience) { me.value.expire() }
      promise.futureResult.whenComplete { _ in
        expiry.cancel()
        me.value.close()
      }
      connection.open(on: loop)
    }
    return promise.futureResult
  }
}
