// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// The shell texts of `SlurmWatch`, and the answers to them.

extension SlurmScript {
  /// The maximum number of jobs that the text of ``change(_:_:marker:)`` changes. The text must end within the time
  /// limit of a call, even if it calls the command once for each job.
  static let mostChanges = 20

  /// Returns the text that lists jobs. It prints:
  ///
  /// - a line with the marker
  /// - a line with the name of the cluster
  /// - the output of `squeue`, and a line feed
  /// - a line with the marker and the exit status of `squeue`
  /// - the errors of `squeue`, and a line feed
  /// - a line with the marker
  static func watch(_ users: SlurmWatch.Users, asksCluster: Bool, marker: String) -> String {
    let selection =
      switch users {
      case .own: #"-u "$(id -u)""#
      case .named(let names): "-u \(quoted(names))"
      case .all: ""
      }
    let format = WatchedSlurmJob.format(marker: "\(marker)-job")
    let cluster =
      asksCluster
      ? "$(scontrol show config 2>/dev/null </dev/null | sed -n 's/^ClusterName *= *//p')" : ""
    return """
      unset \(squeueVariables)
      SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0
      export SLURM_TIME_FORMAT SLURM_BITSTR_LEN
      opq_format=\(quoted(format))
      opq_cluster=\(cluster)
      printf '%s\\n%s\\n' \(marker) "$opq_cluster"
      # An error between the lines of the output could split a line.
      {
        opq_words=$(squeue -a -h -t all -o "$opq_format" \(selection) 2>&1 >&3 3>&- </dev/null)
        opq_status=$?
      } 3>&1
      printf '\\n%s %s\\n%s\\n%s\\n' \(marker) "$opq_status" "$opq_words" \(marker)

      """
  }

  /// Returns the text that changes jobs. The text calls the command with all jobs. If this fails, the text calls the
  /// command once for each job, so that Slurm's words about each job are known. For each job, the text prints a line
  /// with the marker and the exit status, and the output of the command. At the end, it prints a line with the marker
  /// and `end`.
  static func change(_ ids: [String], _ change: SlurmWatch.Change, marker: String) -> String {
    let command =
      switch change {
      case .cancel: "scancel"
      case .hold: "scontrol hold"
      case .release: "scontrol release"
      }
    let words = ids.map { quoted($0) }.joined(separator: " ")
    return """
      unset SLURM_CLUSTERS
      if \(command) \(words) >/dev/null 2>&1 </dev/null; then
        for opq_id in \(words); do echo '\(marker) 0'; done
      else
        for opq_id in \(words); do
          opq_words=$(\(command) "$opq_id" 2>&1 </dev/null)
          printf '%s %s\\n%s\\n' '\(marker)' "$?" "$opq_words"
        done
      fi
      echo '\(marker) end'

      """
  }

  /// Returns the text that reads the end of an output file. It prints:
  ///
  /// - a line with the marker
  /// - a line with the path
  /// - a line with the position and the number of bytes; the number is -1 if the file cannot be read
  /// - the bytes, and a line feed
  /// - a line with the marker
  static func output(
    _ file: SlurmOutputPart.File, from position: Int64, marker: String
  ) -> String {
    let path =
      switch file {
      // The name of a job can contain a line that looks like the line with the path. The real line comes later.
      case .ofJob(let id):
        """
        $(scontrol -a show job \(quoted(id)) 2>/dev/null </dev/null |
          sed -n 's/^   StdOut=//p' | tail -n 1)
        """
      case .path(let path): quoted(path)
      }
    return """
      unset SLURM_CLUSTERS
      opq_path=\(path)
      opq_from=\(position) opq_size=-1
      if [ -f "$opq_path" ] && [ -r "$opq_path" ]; then
        opq_size=$( (wc -c <"$opq_path") 2>/dev/null) || opq_size=-1
      fi
      opq_count=-1
      if [ "$opq_size" -ge 0 ]; then
        [ "$opq_size" -ge "$opq_from" ] || opq_from=0
        [ "$((opq_size - opq_from))" -le \(SlurmOutputPart.longest) ] ||
          opq_from=$((opq_size - \(SlurmOutputPart.longest)))
        opq_count=$((opq_size - opq_from))
      fi
      printf '%s\\n%s\\n%s %s\\n' \(marker) "$opq_path" "$opq_from" "$opq_count"
      [ "$opq_count" -le 0 ] || tail -c "+$((opq_from + 1))" -- "$opq_path" | head -c "$opq_count"
      printf '\\n%s\\n' \(marker)

      """
  }
}

extension SlurmAnswer {
  /// Reads the output of ``SlurmScript/watch(_:asksCluster:marker:)``.
  static func watch(
    _ output: [UInt8], marker: String
  ) -> Result<SlurmWatch.Answer, SlurmCallFailure> {
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), reader.line() == marker, let cluster = reader.line(),
      var lines = reader.lines(beforeLineWith: marker), let status = reader.line(),
      let words = reader.lines(before: marker)
    else { return .failure(SlurmCallFailure(reason: "there was no answer of squeue")) }
    guard status == "\(marker) 0" else {
      if status == "\(marker) 127" {
        return .failure(SlurmCallFailure(reason: "the command squeue was not found"))
      }
      return .failure(SlurmCallFailure(reason: SlurmWords.error(in: words) ?? "squeue has failed"))
    }
    // squeue succeeds even if it does not know a user.
    if words.contains("error: Invalid user"), let words = SlurmWords.error(in: words) {
      return .failure(SlurmCallFailure(reason: words))
    }
    // The text prints a line feed after the output. If the output is complete, this line feed makes an empty line.
    if lines.last?.isEmpty == true { lines.removeLast() }
    let jobs = lines.joined(separator: "\n")
    return .success(
      SlurmWatch.Answer(
        cluster: cluster, jobs: WatchedSlurmJob.all(in: jobs, marker: "\(marker)-job")))
  }

  /// Reads the output of ``SlurmScript/change(_:_:marker:)``.
  ///
  /// - Returns: The result for each job; or `nil` if the output is not complete.
  static func change(
    _ output: [UInt8], count: Int, marker: String
  ) -> [SlurmWatch.ChangeResult]? {
    var answers: [SlurmWatch.ChangeResult] = []
    var words: [String]?
    func result() -> SlurmWatch.ChangeResult {
      guard let words else { return .accepted }
      return .refused(
        SlurmWords.error(in: words.joined(separator: "\n")) ?? "Slurm names no reason")
    }
    var isOpen = false
    for line in lines(of: output) {
      guard line.hasPrefix("\(marker) ") else {
        words?.append(line)
        continue
      }
      if isOpen { answers.append(result()) }
      if line == "\(marker) end" { return answers.count == count ? answers : nil }
      isOpen = true
      words = line == "\(marker) 0" ? nil : []
    }
    return nil
  }

  /// Reads the output of ``SlurmScript/output(_:from:marker:)``; `nil` if it is not complete.
  static func output(_ output: [UInt8], marker: String) -> SlurmOutputPart? {
    var reader = SlurmOutputReader(output)
    guard reader.skip(toLineWith: marker), reader.line() != nil, let path = reader.line() else {
      return nil
    }
    let numbers = reader.line()?.split(separator: " ").compactMap { Int64($0) } ?? []
    guard numbers.count == 2, numbers[0] >= 0, numbers[0] <= Int64.max - max(0, numbers[1]) else {
      return nil
    }
    let bytes = numbers[1] < 0 ? nil : reader.bytes(Int(numbers[1]))
    if numbers[1] < 0 { _ = reader.line() } else if bytes == nil { return nil }
    guard reader.line() == marker else { return nil }
    return SlurmOutputPart(path: path, position: numbers[0], bytes: bytes)
  }
}
