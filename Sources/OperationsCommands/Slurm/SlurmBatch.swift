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
  /// - The wrapper renames the permit of the submission to its claim. This succeeds once. So if a submission counts as
  ///   lost and the command is submitted again, the lost job does not run the command if it starts later. The same
  ///   holds if Slurm's controller forgets a start and starts the job a second time. If Slurm counts a second start as
  ///   a restart, the wrapper renames the claim of the earlier start.
  /// - A second process of the wrapper changes a file every 5 seconds, because Slurm's controller may forget a job that
  ///   runs. The file shows that the job is alive. The second process also looks for a file that requests the end of
  ///   the command.
  /// - After SIGTERM, the second process sends SIGKILL to the process group when the grace period has passed. Slurm
  ///   sends SIGTERM to all processes when the job is cancelled or exceeds its time limit, and SIGKILL after the time
  ///   `KillWait` of its configuration.
  /// - The messages of the wrapper's shell about signals are not a part of the output.
  /// - The wrapper writes the exit status to a file, and then renames the file. So a status file is always complete.
  var text: String {
    """
    #!/bin/sh
    trap : TERM
    opq_gate=\(SlurmScript.quoted(files.gate(of: submission)))
    opq_count=${SLURM_RESTART_COUNT:-0}
    opq_earlier=$opq_count
    opq_from=$opq_gate.permit
    # A request to end the command can arrive as soon as the claim exists, so older files are removed before.
    if [ "$opq_count" -eq 0 ] && [ -e "$opq_from" ]; then
      rm -f -- \(path(files.status)) \(path(files.stop)) \(path(files.obstacle))
    fi
    until mv -f -- "$opq_from" "$opq_gate.$SLURM_JOB_ID.$opq_count" 2>/dev/null; do
      if [ "$opq_earlier" -le 0 ]; then
        if [ -e "$opq_gate.permit" ] || ! [ -h "$opq_gate" ]; then exit \(SlurmExit.unusableFiles); fi
        exit \(SlurmExit.revoked)
      fi
      opq_earlier=$((opq_earlier - 1))
      opq_from=$opq_gate.$SLURM_JOB_ID.$opq_earlier
    done
    \(supervision)
    exec 3>&2 2>/dev/null
    opq_begin=$(date +%s)
    opq_end() {
      (umask 077; echo "$1" >\(path(files.obstacle)))
      exit 1
    }
    (
      trap - TERM
      cd -- \(workingDirectory) || opq_end directory
    \(checks)\(environment)  exec 2>&3 3>&-
      exec \(redirections)
      exec \(words)
    )
    opq_status=$?
    kill -KILL "$opq_watch"
    opq_obstacle=$(cat -- \(path(files.obstacle)))
    (umask 077
      echo "${opq_obstacle:-$opq_status} $(($(date +%s) - opq_begin))" >\(path(files.status, "new")) &&
      mv -f -- \(path(files.status, "new")) \(path(files.status)))
    exit "$opq_status"
    """
  }

  /// The lines that start the second process.
  private var supervision: String {
    let (seconds, _) = max(command.gracePeriod, .zero).components
    // Slurm's own limit for the end of a job is much shorter than this one.
    let grace = min(seconds, 86_400)
    return """
      if [ "$opq_count" -gt 0 ]; then
        rm -f -- \(path(files.status)) \(path(files.stop)) \(path(files.obstacle))
      fi
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

  // MARK: The command

  /// The lines that check whether the command can be started. Without them, a shell would report an obstacle as an exit
  /// status.
  private var checks: String {
    var lines: [String] = []
    switch command.errorOutput {
    case .collected, .lines:
      lines.append("(umask 077; true >>\(SlurmScript.quoted(files.errorLog)))")
    case .file, .discarded, nil: break
    }
    if case .file(let file) = command.input {
      let path = userPath(file)
      lines.append("[ -r \(path) ] && ! [ -d \(path) ] || opq_end input")
    }
    for (output, name) in [(command.output, "output"), (command.errorOutput, "error")] {
      guard case .file(let file, _)? = output else { continue }
      let path = userPath(file)
      // Opening and closing a named pipe would end the input of the program that reads it.
      lines.append("[ -p \(path) ] || true >>\(path) || opq_end \(name)")
    }
    return lines.map { "  \($0)\n" }.joined()
  }

  /// The words after `exec` that execute the command. If the shell cannot change a variable of the environment, or if
  /// variables of the node are removed, the program `env` executes the command.
  private var words: String {
    let words = ([command.program] + command.arguments).map { SlurmScript.quoted($0) }
    let text = words.joined(separator: " ")
    let options = foreignChanges
    if command.inheritsEnvironment, options.isEmpty { return text }
    let isVariable = command.program.utf8.contains(UInt8(ascii: "="))
    let executed = isVariable ? #"/bin/sh -c 'exec "$@"' sh \#(text)"# : text
    return #""$opq_env" "$@" \#((options + [executed]).joined(separator: " "))"#
  }

  // MARK: Environment

  /// The lines that change the environment, and check that the program exists.
  private var environment: String {
    var lines = ["opq_env=$(command -v env)", "set --"]
    if !command.inheritsEnvironment { lines += removal }
    lines += shellChanges
    let program = SlurmScript.quoted(command.program)
    if command.program.utf8.contains(UInt8(ascii: "/")) {
      lines.append("[ -x \(program) ] && ! [ -d \(program) ] || opq_end program")
    } else {
      lines.append("command -v \(program) >/dev/null || opq_end program")
    }
    return lines.map { "  \($0)\n" }.joined()
  }

  /// The lines that remove the variables of the environment, except those of Slurm. A shell cannot remove a variable
  /// whose name is not the name of a shell variable, such as a function that bash has exported. An option of `env`
  /// removes such a variable.
  private var removal: [String] {
    let path = command.environment["PATH"] == nil ? #"PATH) set -- "$@" -u PATH ;;"# : "PATH) ;;"
    return [
      #"opq_line=$(printf '\n_')"#, "IFS=${opq_line%_}", "set -f",
      #"for opq_name in $(env -0 | tr '\n\0' '\1\n' | sed -n 's/^\([^=]*\)=.*/\1/p'); do"#,
      "  case $opq_name in",
      "    \(path)",
      "    SLURM*) ;;",
      #"    *[!A-Za-z0-9_]* | [0-9]* | BASH* | \#(Self.specialNames.joined(separator: " | ")))"#,
      #"      set -- "$@" -u "$opq_name" ;;"#,
      #"    *) unset "$opq_name" ;;"#,
      "  esac",
      "done", "unset IFS", "set +f",
    ]
  }

  /// The lines that change variables in the shell. As arguments of `env`, the values would be visible to other users in
  /// a list of processes.
  private var shellChanges: [String] {
    changes.filter(Self.isMadeByShell).map { name, value in
      value.map { "export \(name)=\(SlurmScript.quoted($0))" } ?? "unset \(name)"
    }
  }

  /// The words of `env` that change the other variables.
  private var foreignChanges: [String] {
    let others = changes.filter { !Self.isMadeByShell($0) }
    let removed = others.filter { $0.value == nil }.map { "-u \(SlurmScript.quoted($0.name))" }
    let set = others.compactMap { name, value in
      value.map { SlurmScript.quoted("\(name)=\($0)") }
    }
    return removed + set
  }

  private var changes: [(name: String, value: String?)] {
    command.environment.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The names of variables that a shell changes itself, or that it does not permit to change.
  private static let specialNames = [
    "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "IFS",
    "LINENO", "OLDPWD", "OPTARG", "OPTIND", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS",
    "SHLVL", "SRANDOM", "UID", "_",
  ]

  /// Whether the shell can make a change. Without the variable `PATH`, the shell would find no program.
  private static func isMadeByShell(_ change: (name: String, value: String?)) -> Bool {
    let (name, value) = change
    return ShimEnvironment.isShellName(name) && !specialNames.contains(name)
      && !name.hasPrefix("BASH") && !name.hasPrefix("opq_") && (name != "PATH" || value != nil)
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
