// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The text that runs a command on a node of a cluster: the wrapper of the command.
struct SlurmBatch {
  let command: Command
  let files: SlurmFiles
  let submission: SlurmSubmission
  /// The directory in which the command runs, and in which relative paths begin; `nil` for the directory in which
  /// `sbatch` was called.
  let directory: String?

  /// The text.
  ///
  /// - A link decides if this job may execute the command, so that a job that counts as lost, and was submitted again,
  ///   does nothing if it starts later. Slurm may also start one job twice, then it is the owner of the link already.
  /// - A second process changes a file every 5 seconds. Slurm's controller may forget a job that runs. The file shows
  ///   that the job is alive, and another file requests its end.
  /// - After SIGTERM, this process sends SIGKILL to the process group when the grace period has passed. Slurm sends
  ///   SIGTERM to all processes when the job is cancelled, or exceeds its time limit, and SIGKILL after the time
  ///   `KillWait` of its configuration.
  /// - The messages of this shell about signals do not become a part of the output.
  /// - The wrapper writes the exit status by renaming a file, so a
  ///   status that exists is complete.
  var text: String {
    let claim = SlurmScript.quoted(files.claim(of: submission))
    return """
      #!/bin/sh
      trap : TERM
      ln -s "$SLURM_JOB_ID" \(claim) 2>/dev/null
      case "$(readlink \(claim))" in
        "$SLURM_JOB_ID") ;;
        '') exit \(SlurmExit.unusableFiles) ;;
        *)
          echo 'opq: this job does not run, because it was cancelled or submitted again'
          exit \(SlurmExit.revoked) ;;
      esac
      \(supervision)
      exec 3>&2 2>/dev/null
      opq_begin=$(date +%s)
      if cd -- \(workingDirectory); then
        (
          trap - TERM
          exec 2>&3 3>&-
      \(environment)    exec \(redirections)
          exec env \(changes)\(words)
        )
        opq_status=$?
      else
        opq_status=directory
      fi
      kill -KILL "$opq_watch" 2>/dev/null
      (umask 077
        echo "$opq_status $(($(date +%s) - opq_begin))" >\(path(files.status, "new")) &&
        mv -f -- \(path(files.status, "new")) \(path(files.status)))
      [ "$opq_status" != directory ] || opq_status=1
      exit "$opq_status"
      """
  }

  /// The lines that start the second process.
  private var supervision: String {
    let (seconds, _) = max(command.gracePeriod, .zero).components
    // Slurm's own limit for the end of a job is much shorter than this one.
    let grace = min(seconds, 86_400)
    return """
      rm -f -- \(path(files.status)) \(path(files.stop))
      (umask 077; echo "0 $SLURM_JOB_ID" >\(path(files.sign)))
      (
        umask 077
        trap 'opq_stop=1' TERM
        opq_stop= opq_count=0
        while :; do
          sleep \(SlurmFiles.signInterval)
          opq_count=$((opq_count + 1))
          echo "$opq_count $SLURM_JOB_ID" >\(path(files.sign))
          if [ -z "$opq_stop" ] && [ -e \(path(files.stop)) ]; then
            opq_stop=1
            trap : TERM
            kill -TERM 0
          fi
          if [ -n "$opq_stop" ]; then
            trap : TERM
            opq_end=$(($(date +%s) + \(grace)))
            while [ "$(date +%s)" -lt "$opq_end" ] && ! [ -s \(path(files.stop)) ]; do sleep 1; done
            kill -KILL 0
          fi
        done
      ) 2>/dev/null &
      opq_watch=$!
      """
  }

  /// The words of the command. The program `env` would take a program with an equals sign for a variable.
  private var words: String {
    let words = [command.program] + command.arguments
    let text = words.map { SlurmScript.quoted($0) }.joined(separator: " ")
    let isVariable = command.program.utf8.contains(UInt8(ascii: "="))
    return isVariable ? #"/bin/sh -c 'exec "$@"' sh \#(text)"# : text
  }

  private func path(_ path: String, _ end: String? = nil) -> String {
    SlurmScript.quoted(end.map { "\(path).\($0)" } ?? path)
  }

  /// A path of the user as a word of the shell.
  private func userPath(_ path: String) -> String {
    if path.hasPrefix("/") { return SlurmScript.quoted(path) }
    guard let directory else { return "\"$SLURM_SUBMIT_DIR\"/\(SlurmScript.quoted(path))" }
    return SlurmScript.quoted("\(directory)/\(path)")
  }

  private var workingDirectory: String {
    if let path = command.workingDirectory { return userPath(path) }
    return directory.map { SlurmScript.quoted($0) } ?? "\"$SLURM_SUBMIT_DIR\""
  }

  // MARK: Environment

  /// The lines that remove the variables of the environment, except those of Slurm.
  private var environment: String {
    if command.inheritsEnvironment { return "" }
    return #"""
          for opq_name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
            case $opq_name in PATH | SLURM*) ;; *) unset "$opq_name" ;; esac
          done

      """#
  }

  /// The options of `env` that change the environment.
  private var changes: String {
    var removed = command.environment.filter { $0.value == nil }.map(\.key)
    if !command.inheritsEnvironment, command.environment["PATH"] == nil { removed.append("PATH") }
    let options = removed.sorted().map { "-u \(SlurmScript.quoted($0)) " }
    let values = command.environment.sorted { $0.key < $1.key }.compactMap { name, value in
      value.map { SlurmScript.quoted("\(name)=\($0)") + " " }
    }
    return options.joined() + values.joined()
  }

  // MARK: Streams

  private var redirections: String {
    var input = ""
    if case .file(let path) = command.input { input = "<\(userPath(path)) " }
    let output = redirection(command.output, log: files.log)
    let error = command.errorOutput.map { redirection($0, log: files.errorLog) } ?? "&1"
    return "\(input)>\(output) 2>\(error)"
  }

  private func redirection(_ output: CommandOutput, log: String) -> String {
    switch output {
    case .collected, .lines: ">\(SlurmScript.quoted(log))"
    case .file(let path, let appends): (appends ? ">" : "") + userPath(path)
    case .discarded: "/dev/null"
    }
  }
}
