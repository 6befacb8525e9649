// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The shell texts that call Slurm's commands, and that run a command on a node. `/bin/sh` reads them from its standard
/// input, so the texts also reach another machine, and nothing is interpreted twice.
enum SlurmScript {
  /// Returns a text as one word of a shell.
  static func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
  }

  /// The environment variables that change the output of `squeue`.
  private static let squeueVariables = [
    "ALL", "ARRAY", "FEDR", "FORMAT", "FORMAT2", "LICENSES", "LOCAL", "PARTITION", "PRIORITY",
    "QOS",
    "SIBLING", "SORT", "STATES", "USERS",
  ].map { "SQUEUE_\($0)" }.joined(separator: " ")

  /// The beginning of a call of `squeue`, to which options are added. Times are in seconds since 1970.
  private static let squeue =
    "SLURM_TIME_FORMAT=%s squeue -h -t all -o \(quoted(SlurmRecord.format))"

  // MARK: Submission

  /// Returns the text that submits a command. It prints the output of `sbatch`, and then a line with the marker and the
  /// exit status.
  ///
  /// - Parameters:
  ///   - submission: The submission.
  ///   - batch: The text that runs on the node.
  ///   - resources: The resources of the job.
  ///   - files: The files of the job.
  ///   - marker: A word that the output does not contain by chance.
  /// - Returns: The text.
  static func submit(
    _ submission: SlurmSubmission, batch: String, resources: SlurmResources, files: SlurmFiles,
    marker: String
  ) -> String {
    // In the name of an output file, Slurm replaces % and a letter.
    let log = files.log.split(separator: "%", omittingEmptySubsequences: false).joined(
      separator: "%%")
    // The last one of two equal options counts, so the options of the user cannot change those after them.
    let arguments =
      ["--export=ALL", "--no-requeue"] + resources.arguments + [
        "--parsable", "--comment=\(submission.comment)", "--job-name=\(submission.name)",
        "--chdir=/", "--input=/dev/null", "--output=\(log)", "--open-mode=append",
      ]
    return """
      # In a job of Slurm, its variables do not describe the new job.
      if [ -n "${SLURM_JOB_ID-}" ]; then
        for opq_name in $(env | sed -n 's/^\\(SLURM_[A-Z0-9_]*\\)=.*/\\1/p'); do
          case $opq_name in SLURM_CONF) ;; *) unset "$opq_name" ;; esac
        done
      fi
      echo \(marker)
      (umask 077 && mkdir -p -- \(quoted(files.directory))) 2>&1 && sbatch \
      \(arguments.map { quoted($0) }.joined(separator: " ")) 2>&1 <<'\(marker)'
      \(batch)
      \(marker)
      printf '\\n%s %s\\n' \(marker) "$?"

      """
  }

  // MARK: Queue

  /// Returns the text that lists the jobs of the user, and reads the files of jobs. It prints a line with the marker and
  /// the exit status of `squeue`, the output of `squeue`, a line with the marker, and the contents of the files.
  ///
  /// - Parameters:
  ///   - looks: The requests to read files.
  ///   - marker: A word that the output does not contain by chance.
  /// - Returns: The text.
  static func queue(looks: [SlurmLook], marker: String) -> String {
    """
    unset \(squeueVariables)
    opq_jobs=$(\(squeue) -u "$(id -u)" 2>&1 </dev/null)
    printf '%s %s\\n%s\\n%s\\n' \(marker) "$?" "$opq_jobs" \(marker)
    \(looks.map { read($0) }.joined(separator: "\n"))
    echo \(marker) end

    """
  }

  /// Returns the text that reads the files of a job. For each file, it prints a line with the position and the number of
  /// bytes, the bytes, and a line feed.
  static func read(_ look: SlurmLook) -> String {
    let small = """
      opq_sign=$(head -c 256 -- \(quoted(look.files.sign)) 2>/dev/null)
      opq_text=$(head -c 256 -- \(quoted(look.files.status)) 2>/dev/null)
      printf '%s\\n%s\\n' "$opq_sign" "$opq_text"
      """
    let outputs = look.outputs.map { output in
      """
      opq_file=\(quoted(output.path)) opq_from=\(output.position)
      opq_size=$( (wc -c <"$opq_file") 2>/dev/null) || opq_size=0
      \(output.isOwn ? "" : #"[ -n "$opq_sign" ] || opq_size=$opq_from"#)
      [ "$opq_size" -ge "$opq_from" ] || opq_from=0
      \(output.isTail ? tail : "")
      opq_count=$((opq_size - opq_from))
      [ "$opq_count" -le \(SlurmLook.mostBytes) ] || opq_count=\(SlurmLook.mostBytes)
      printf '%s %s\\n' "$opq_from" "$opq_count"
      [ "$opq_count" -eq 0 ] || tail -c "+$((opq_from + 1))" -- "$opq_file" | head -c "$opq_count"
      echo
      """
    }
    return ([small] + outputs).joined(separator: "\n")
  }

  private static let tail = """
    [ "$((opq_size - opq_from))" -le \(SlurmLook.mostTailBytes) ] || \
    opq_from=$((opq_size - \(SlurmLook.mostTailBytes)))
    """

  /// Returns the text that reads the files of one job.
  static func look(_ look: SlurmLook, marker: String) -> String {
    "echo \(marker)\n\(read(look))\necho \(marker) end\n"
  }

  // MARK: One job

  /// Returns the text that cancels a job and requests its wrapper to end the command. The id is used only if the job with
  /// this id has the comment of the submission. The text prints a line with the marker, and the job after the request.
  static func cancel(_ submission: SlurmSubmission, files: SlurmFiles, marker: String) -> String {
    let id = submission.id.map { "\($0)" } ?? ""
    return """
      unset \(squeueVariables)
      (umask 077 && : >>\(quoted(files.stop))) 2>/dev/null
      echo \(marker)
      case "$(squeue -h -t all -j '\(id)' -o %k 2>/dev/null </dev/null)" in
        \(submission.comment))
          scancel '\(id)' </dev/null >/dev/null 2>&1
          \(squeue) -j '\(id)' </dev/null 2>/dev/null ;;
      esac
      echo \(marker) end

      """
  }

  /// Returns the text that ends the grace period of a command.
  static func endGracePeriod(_ files: SlurmFiles) -> String {
    "(umask 077 && echo end >\(quoted(files.stop))) 2>/dev/null || :\n"
  }

  /// Returns the text that prevents the start of a job. It prints `revoked` if the job will not execute the command, and
  /// nothing if the link cannot be created.
  static func revoke(_ submission: SlurmSubmission, files: SlurmFiles) -> String {
    let claim = quoted(files.claim(of: submission))
    return """
      (umask 077 && mkdir -p -- \(quoted(files.directory))) 2>/dev/null
      ln -s revoked \(claim) 2>/dev/null
      readlink \(claim)

      """
  }

  /// Returns the text that prints Slurm's own record of a job, if it is the job of the submission.
  static func showJob(_ submission: SlurmSubmission) -> String {
    """
    opq_job=$(scontrol -o show job '\(submission.id ?? 0)' 2>/dev/null </dev/null)
    case "$opq_job" in
      *"Comment=\(submission.comment)"*) printf '%s\\n' "$opq_job" ;;
    esac

    """
  }

  /// Returns the text that deletes the files of a job.
  static func delete(_ files: SlurmFiles, _ submission: SlurmSubmission) -> String {
    let paths = [
      files.log, files.errorLog, files.status, files.sign, files.stop,
      files.claim(of: submission),
    ]
    return "rm -f -- \(paths.map { quoted($0) }.joined(separator: " "))\n"
  }
}
