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
    /// The place of the process.
    package var address: ProcessAddress
    /// The path of the process's socket on the machine of the process, unsanitised.
    package var path: String
    /// The process id in the name of the socket.
    package var processID: Int32
    /// The greeting of the process, or the reason why the process cannot be watched.
    package var answer: Result<Greeting, AttachError>

    /// Creates the result for a process.
    ///
    /// - Parameters:
    ///   - address: The place of the process; `nil` for the socket of this machine at the path.
    ///   - path: The path of the process's socket.
    ///   - processID: The process id in the name of the socket.
    ///   - answer: The greeting of the process, or the reason why the process cannot be watched.
    package init(
      _ address: ProcessAddress? = nil, path: String, processID: Int32,
      answer: Result<Greeting, AttachError>
    ) {
      self.address = address ?? .socket(path)
      self.path = path
      self.processID = processID
      self.answer = answer
    }
  }

  /// The greeting of a process and the versions of the protocol that it understands.
  package struct Greeting: Sendable, Equatable {
    package var hello: Hello
    package var versions: ProtocolVersions
  }

  /// The maximum time to wait for the greeting of a process of this machine. A slower process is treated as a process
  /// that does not answer.
  private static let patience = TimeAmount.milliseconds(200)
  /// The maximum time to wait for the greeting of a process behind a relay.
  private static let relayedPatience = TimeAmount.seconds(2)

  /// Returns the processes of this user that a viewer can connect to, sorted by process id. The
  /// call takes as long as the slowest answer.
  package static func find() -> [Found] {
    let sockets = sockets()
    return answers(
      sockets.map { Probe(address: .socket($0.path), path: $0.path, processID: $0.processID) },
      within: patience)
  }

  /// Returns the processes that a relay was started for, in the order of their process ids. The call waits for the first
  /// greeting of the relay, and for the slowest process.
  ///
  /// The call never starts the command of the link, because a start can be a login. Call ``RelayLink/connect()`` before
  /// the first search.
  ///
  /// If a process has a ``RelayedTarget/refusal``, this refusal is its answer. If no process listens at a socket, the
  /// result does not contain the socket. The processes are those of the first connection of the link. To find processes
  /// that have begun to listen later, use a new link.
  ///
  /// - Parameter link: The link to the relay; `nil` for this machine.
  /// - Returns: The processes.
  /// - Throws: ``AttachError`` if the first connection to the relay has failed, or if the command does not run when the
  ///   processes have answered.
  package static func find(through link: RelayLink?) throws(AttachError) -> [Found] {
    guard let link else { return find() }
    let loop = ConnectionLoop.shared
    let greeting = loop.makePromise(of: [RelayedTarget].self)
    link.whenGreeted { greeting.completeWith($0.mapError { $0 as any Error }) }
    let targets = try value(of: greeting.futureResult)
    let refused = targets.compactMap { target in
      target.refusal.map { refusal in
        Found(
          .relayed(link, number: target.number), path: target.path, processID: target.processID,
          answer: .failure(refusal))
      }
    }
    let probes = targets.filter { $0.refusal == nil }.map { target in
      Probe(
        address: .relayed(link, number: target.number), path: target.path,
        processID: target.processID)
    }
    let found = sorted(refused + answers(probes, within: relayedPatience))
    // If the link has lost the relay, the answers say nothing about the processes.
    if let loss = try value(of: loop.submit { link.loss }) { throw loss }
    return found
  }

  /// Waits for the result of a future.
  private static func value<Value: Sendable>(
    of future: EventLoopFuture<Value>
  ) throws(AttachError) -> Value {
    do {
      return try future.wait()
    } catch {
      throw error as? AttachError ?? AttachError(.lost, "\(error)")
    }
  }

  /// Returns the paths of the processes' sockets in the directories of this user, and the process ids in their names.
  /// The processes may have ended.
  static func sockets() -> [(path: String, processID: Int32)] {
    var paths: [String: Int32] = [:]
    for directory in MonitorDirectory.candidates() where (try? directory.check()) != nil {
      for fileName in directory.fileNames where fileName.hasSuffix(".sock") {
        guard let name = MonitorSocketName(fileName: fileName) else { continue }
        paths[directory.path(of: fileName)] = name.processID
      }
    }
    return paths.map { ($0.key, $0.value) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
  }

  /// A process that is asked for its greeting.
  private struct Probe {
    let address: ProcessAddress
    let path: String
    let processID: Int32
  }

  private static func answers(_ probes: [Probe], within patience: TimeAmount) -> [Found] {
    let loop = ConnectionLoop.shared
    let asked = probes.map { ($0, greeting(of: $0.address, within: patience, on: loop)) }
    let found = asked.compactMap { probe, greeting -> Found? in
      let answer: Result<Greeting, AttachError>
      do throws(AttachError) {
        answer = .success(try value(of: greeting))
      } catch {
        // A process that has crashed leaves its socket behind. Such a socket is skipped.
        if error.kind == .nothingThere { return nil }
        answer = .failure(error)
      }
      return Found(probe.address, path: probe.path, processID: probe.processID, answer: answer)
    }
    return sorted(found)
  }

  private static func sorted(_ found: [Found]) -> [Found] {
    found.sorted { ($0.processID, $0.path) < ($1.processID, $1.path) }
  }

  private static func greeting(
    of address: ProcessAddress, within patience: TimeAmount, on loop: any EventLoop
  ) -> EventLoopFuture<Greeting> {
    let promise = loop.makePromise(of: Greeting.self)
    loop.execute {
      // If the command of the link does not run, a connection would start it.
      if case .relayed(let link, _) = address, let loss = link.loss { return promise.fail(loss) }
      let connection = ProcessConnection(address, isReadOnly: true, patience: patience) { event in
        switch event {
        case .greeted(var hello, let versions):
          hello.host = address.host
          promise.succeed(Greeting(hello: hello, versions: versions))
        case .heard: break
        case .closed(let end): promise.fail(end.error)
        }
      }
      let me = NIOLoopBound(connection, eventLoop: loop)
      promise.futureResult.whenComplete { _ in me.value.close() }
      connection.open(on: loop)
    }
    return promise.futureResult
  }
}
