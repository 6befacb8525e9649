// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The inputs of a run, which do not change. A runner that resumes the run uses them again.
package struct RunRequest: Hashable, Sendable {
  /// The version of the format that this program writes. A program refuses a request with a higher version.
  package static let currentVersion = 1

  /// The version of the format.
  package var version = RunRequest.currentVersion
  /// The absolute path of the job file; `nil` if the jobs were read from standard input. In that case, the directory of
  /// the run contains them.
  package var file: String?
  /// The title of the run, which viewers show.
  package var title: String
  /// Whether each line is a command.
  package var isLines: Bool
  /// The width of all queues; `nil` for the widths of the file.
  package var width: Int?
  /// The names of the jobs that run without the jobs that they need; empty for all jobs.
  package var only: [String]
  /// The names of the jobs that run with all jobs that they need; empty for all jobs.
  package var until: [String]
  /// Whether the first failure cancels the other jobs.
  package var failsFast: Bool
  /// The cluster on which the commands execute; `nil` for this machine.
  package var cluster: RunCluster?
  /// The absolute path of the working directory of the jobs.
  package var directory: String
  /// The wall clock at the creation of the run, in nanoseconds since 1970.
  package var created: Int64
  /// The hashes of the values of variables, from ``RunVariables``.
  package var variables: [String: String]

  /// Creates the inputs of a run.
  ///
  /// - Parameters:
  ///   - file: The absolute path of the job file; `nil` for standard input.
  ///   - title: The title of the run.
  ///   - isLines: Whether each line is a command.
  ///   - width: The width of all queues; `nil` for the widths of the file.
  ///   - only: The names of the jobs that run without the jobs that they need.
  ///   - until: The names of the jobs that run with all jobs that they need.
  ///   - failsFast: Whether the first failure cancels the other jobs.
  ///   - cluster: The cluster on which the commands execute; `nil`, the default, for this machine.
  ///   - directory: The absolute path of the working directory of the jobs.
  ///   - created: The wall clock, in nanoseconds since 1970; now by default.
  ///   - variables: The hashes of the values of variables.
  package init(
    file: String?, title: String, isLines: Bool = false, width: Int? = nil, only: [String] = [],
    until: [String] = [], failsFast: Bool = false, cluster: RunCluster? = nil, directory: String,
    created: Int64 = csystem_wall_nanoseconds(), variables: [String: String] = [:]
  ) {
    self.file = file
    self.title = title
    self.isLines = isLines
    self.width = width
    self.only = only
    self.until = until
    self.failsFast = failsFast
    self.cluster = cluster
    self.directory = directory
    self.created = created
    self.variables = variables
  }

  /// Reads the inputs of a run.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: The inputs.
  /// - Throws: ``RunFailure`` if there are none, or if they are damaged.
  package static func read(_ directory: RunDirectory) throws(RunFailure) -> RunRequest {
    if let failure = directory.ownershipFailure { throw failure }
    let bytes = try RunDisk.contents(directory.request)
    let request: RunRequest
    do throws(JSONFault) {
      request = try RunRequest(json: bytes)
    } catch {
      throw RunFailure("the file \(directory.request) is damaged")
    }
    guard request.version <= currentVersion else {
      throw RunFailure("a newer opq-top has written the run \(directory.id)")
    }
    return request
  }
}

extension RunRequest {
  /// The request as a line of JSON.
  var json: [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("created", created)
      text.member("directory", directory)
      text.member("failsFast", failsFast)
      text.member("file", file)
      text.member("isLines", isLines)
      text.member("on", cluster?.text)
      text.member("only", only)
      text.member("poll", cluster.map { Int64($0.pollInterval / .milliseconds(1)) })
      text.member("title", title)
      text.member("until", until)
      text.member("variables", variables)
      text.member("version", version)
      text.member("width", width)
    }
    text.endLine()
    return text.bytes
  }

  /// Reads a request. Unknown keys are ignored.
  init(json: [UInt8]) throws(JSONFault) {
    var request = RunRequest(file: nil, title: "", directory: "", created: .min)
    var hasDirectory = false
    var interval: Int64?
    try JSONScanner.read(json) { scanner throws(JSONFault) in
      try scanner.readObject { scanner, key throws(JSONFault) in
        if key == "directory" { hasDirectory = true }
        if key == "poll" {
          interval = try scanner.readInteger()
        } else {
          try request.read(key, &scanner)
        }
      }
    }
    guard hasDirectory, request.created != .min else { throw JSONFault() }
    if let interval { request.cluster?.pollInterval = .milliseconds(interval) }
    self = request
  }

  private mutating func read(_ key: String, _ scanner: inout JSONScanner) throws(JSONFault) {
    switch key {
    case "created": created = try scanner.readInteger()
    case "directory": directory = try scanner.readString()
    case "failsFast": failsFast = try scanner.readBoolean()
    case "file": file = try scanner.readString()
    case "isLines": isLines = try scanner.readBoolean()
    case "on":
      // The directory of a run that was created is absolute.
      guard let cluster = RunCluster(try scanner.readString()),
        cluster.directory?.hasPrefix("/") ?? true
      else { throw JSONFault() }
      self.cluster = cluster
    case "only": only = try scanner.readStrings()
    case "title": title = try scanner.readString()
    case "until": until = try scanner.readStrings()
    case "variables":
      var values: [String: String] = [:]
      try scanner.readObject { scanner, name throws(JSONFault) in
        values[name] = try scanner.readString()
      }
      variables = values
    case "version": version = try scanner.readInteger()
    case "width": width = try scanner.readInteger()
    default: try scanner.skipValue()
    }
  }
}
