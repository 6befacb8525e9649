// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The shell texts that call Slurm's commands. `/bin/sh` reads them from its standard input. So the texts can be sent
/// to another machine, and no other shell interprets them.
enum SlurmScript {
  /// Returns a text as one word of a shell.
  ///
  /// Unicode scalars are replaced, because a character can consist of a quotation mark and a following scalar. Carriage
  /// returns are replaced too, because `sbatch` refuses a script with a carriage return before a line feed.
  static func quoted(_ text: String) -> String {
    "'\(text.replacing("'", by: #"'\''"#).replacing("\r", by: #"'"$(printf '\r')"'"#))'"
  }

  /// The environment variables that change the output of `squeue`.
  static let squeueVariables =
    [
      "ALL", "ARRAY", "FEDR", "FORMAT", "FORMAT2", "LICENSES", "LOCAL", "PARTITION", "PRIORITY",
      "QOS", "SIBLING", "SORT", "STATES", "USERS",
    ].map { "SQUEUE_\($0)" }.joined(separator: " ") + " SLURM_CLUSTERS"
  /// The environment variables that change what `sbatch` submits, or where.
  private static let sbatchVariables =
    "SBATCH_ARRAY_INX SBATCH_CLUSTERS SBATCH_ERROR SBATCH_TEST_ONLY SBATCH_WAIT SLURM_CLUSTERS"
  /// The environment variables that change which jobs `scancel` cancels, and how.
  private static let scancelVariables =
    [
      "ACCOUNT", "BATCH", "CRON", "CTLD", "FULL", "HURRY", "INTERACTIVE", "NAME", "PARTITION",
      "QOS", "STATE", "USER", "WCKEY",
    ].map { "SCANCEL_\($0)" }.joined(separator: " ")

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
    let log = files.log.replacing("%", by: "%%")
    // If an option is given twice, `sbatch` uses the last one. So the options of the user cannot change later options.
    let arguments =
      ["--export=ALL", "--no-requeue"] + resources.arguments + [
        "--parsable", "--comment=\(submission.comment)", "--job-name=\(submission.name)",
        "--chdir=/", "--input=/dev/null", "--output=\(log)", "--open-mode=append",
      ]
    let (permit, gate) = (quoted(files.permit(of: submission)), quoted(files.gate(of: submission)))
    return """
      # If the end of this text is lost on the way to the shell, the shell executes nothing.
      {
      unset \(sbatchVariables)
      # If this shell runs in a job of Slurm, the variables of this job must not become those of the new job.
      if [ -n "${SLURM_JOB_ID-}" ]; then
        for opq_name in $(env | sed -n 's/^\\(SLURM_[A-Z0-9_]*\\)=.*/\\1/p'); do
          case $opq_name in SLURM_CONF) ;; *) unset "$opq_name" ;; esac
        done
      fi
      echo \(marker)
      (
        [ ! -h \(gate) ] || exit \(SlurmExit.revoked)
        # Slurm appends to the file of the output, and keeps its mode.
        (umask 077 && mkdir -p -- \(quoted(files.directory)) && true >>\(quoted(files.log)) &&
          true >\(permit)) 2>&1 ||
          exit \(SlurmExit.unusableFiles)
        if ! ln -s submitted \(gate) 2>&1; then
          [ -h \(gate) ] || exit \(SlurmExit.unusableFiles)
          # The submission was revoked at this moment.
          rm -f -- \(permit)
          exit \(SlurmExit.revoked)
        fi
        sbatch \(arguments.map { quoted($0) }.joined(separator: " ")) 2>&1
      ) <<'\(marker)'
      \(batch)
      \(marker)
      printf '\\n%s %s\\n' \(marker) "$?"
      }

      """
  }

  // MARK: Queue

  /// Returns the text that lists the jobs of the user, and reads the files of jobs. It prints a line with the marker
  /// and the exit status of `squeue`, the output of `squeue`, a line with the marker, and the contents of the files.
  ///
  /// - Parameters:
  ///   - looks: The requests to read files.
  ///   - marker: A word that the output does not contain by chance.
  /// - Returns: The text.
  static func queue(looks: [SlurmLook], marker: String) -> String {
    let limit = SlurmLook.limit(fileCount: looks.map(\.outputs.count).reduce(0, +))
    return """
      unset \(squeueVariables)
      SLURM_TIME_FORMAT=%s
      export SLURM_TIME_FORMAT
      opq_format=\(quoted(SlurmRecord.format))
      opq_jobs=$(squeue -a -h -t all -o "$opq_format" -u "$(id -u)" 2>&1 </dev/null)
      printf '%s %s\\n%s\\n%s\\n' \(marker) "$?" "$opq_jobs" \(marker)
      \(looks.map { read($0, limit: limit) }.joined(separator: "\n"))
      echo \(marker) end

      """
  }

  /// Returns the text that reads the files of a job. For each file, it prints a line with the position, the number of
  /// bytes and the size of the file, the bytes, and a line feed. The size is -1 if the file cannot be read.
  private static func read(_ look: SlurmLook, limit: Int64) -> String {
    let small = """
      \(head(of: look.files.sign, into: "opq_sign"))
      \(head(of: look.files.status, into: "opq_text"))
      printf '%s\\n%s\\n' "$opq_sign" "$opq_text"
      """
    let outputs = look.outputs.map { output in
      """
      opq_file=\(quoted(output.path)) opq_from=\(output.position) opq_limit=\(limit)
      opq_all=-1
      if \(output.isOwn ? "true" : #"[ -n "$opq_sign" ]"#) && [ -e "$opq_file" ]; then
        opq_all=0
        # A pipe would not return.
        [ ! -f "$opq_file" ] || opq_all=$( (wc -c <"$opq_file") 2>/dev/null) || opq_all=-1
      fi
      opq_size=$opq_all
      [ "$opq_all" -ge 0 ] || opq_size=$opq_from
      [ "$opq_size" -ge "$opq_from" ] || opq_from=0
      \(output.isTail ? tail(limit: limit) : "")
      opq_count=$((opq_size - opq_from))
      [ "$opq_count" -le "$opq_limit" ] || opq_count=$opq_limit
      printf '%s %s %s\\n' "$opq_from" "$opq_count" "$((opq_all))"
      [ "$opq_count" -eq 0 ] || tail -c "+$((opq_from + 1))" -- "$opq_file" | head -c "$opq_count"
      echo
      """
    }
    return ([small] + outputs).joined(separator: "\n")
  }

  /// Assigns the beginning of a file to a variable; the word ``unreadable`` if the file cannot be read, unless it does
  /// not exist.
  private static func head(of path: String, into variable: String) -> String {
    // The message shows the error. In a directory that cannot be used, a test finds no file.
    """
    \(variable)=$(LC_ALL=C head -c 256 -- \(quoted(path)) 2>&1) || case $\(variable) in
    *'No such file or directory') \(variable)= ;;
    *) \(variable)=\(unreadable) ;;
    esac
    """
  }

  /// The contents of a file that cannot be read.
  static let unreadable = "unreadable"

  private static func tail(limit: Int64) -> String {
    let most = min(SlurmLook.mostTailBytes, limit)
    return #"[ "$((opq_size - opq_from))" -le \#(most) ] || opq_from=$((opq_size - \#(most)))"#
  }

  /// Returns the text that reads the files of one job after its end.
  static func look(_ look: SlurmLook, marker: String) -> String {
    """
    # A network file system may remember that a file did not exist.
    ls -- \(quoted(look.files.directory)) >/dev/null 2>&1
    echo \(marker)
    \(read(look, limit: SlurmLook.limit(fileCount: look.outputs.count)))
    echo \(marker) end

    """
  }

  // MARK: One job

  /// Returns the text that cancels jobs and requests their wrappers to end the commands. An id is used only if the job
  /// with this id has the comment of the submission.
  ///
  /// The text prints a line for each job: the marker, its comment, and `revoked` if it has not started and cannot
  /// start, and otherwise `requested`. The last line has the marker, `end`, and the exit status of `scancel`.
  static func cancel(_ requests: [SlurmCanceller.Request], marker: String) -> String {
    let ids = requests.compactMap(\.submission.id)
    let prepared = requests.map { request in
      "opq_prepare \(quoted(request.files.base)) \(request.submission.comment)"
    }
    let matched = requests.compactMap { request in
      request.submission.id.map { "opq_match \($0) \(request.submission.comment)" }
    }
    return #"""
      unset \#(squeueVariables) \#(scancelVariables)
      umask 077
      opq_prepare() {
        opq_word=requested
        mv -f -- "$1.$2.permit" "$1.$2.revoked" 2>/dev/null
        if [ -e "$1.$2.revoked" ]; then
          opq_word=revoked
        else
          for opq_claim in "$1.$2".[0-9]*; do
            [ ! -e "$opq_claim" ] || true >>"$1.stop"
            break
          done
        fi
        printf '%s %s %s\n' '\#(marker)' "$2" "$opq_word"
      }
      opq_match() {
        case "
      $opq_jobs
      " in *"
      $1 $2
      "*) opq_ids="$opq_ids $1" ;; esac
      }
      opq_jobs= opq_ids=
      \#(prepared.joined(separator: "\n"))
      \#(ids.isEmpty ? "" : "opq_jobs=$(\(comments(of: ids)) 2>/dev/null </dev/null)")
      \#(matched.joined(separator: "\n"))
      opq_status=1
      if [ -n "$opq_ids" ]; then
        scancel $opq_ids </dev/null >/dev/null 2>&1
        opq_status=$?
      fi
      printf '%s end %s\n' '\#(marker)' "$opq_status"

      """#
  }

  private static func comments(of ids: [Int]) -> String {
    "squeue -a -h -t all -o '%i %k' -j \(ids.map { "\($0)" }.joined(separator: ","))"
  }

  /// Returns the text that ends the grace period of a command that has started.
  static func endGracePeriod(_ files: SlurmFiles) -> String {
    """
    for opq_claim in \(quoted(files.base)).opq-*.[0-9]*; do
      [ ! -e "$opq_claim" ] || (umask 077 && echo end >\(quoted(files.stop))) 2>/dev/null
      break
    done

    """
  }

  /// Returns the text that prevents the start of a job. It prints a line with the marker, and a line with `revoked` if
  /// the job will not execute the command, with `started` if it has started, or with `files` if the files cannot be
  /// used.
  static func revoke(_ submission: SlurmSubmission, files: SlurmFiles, marker: String) -> String {
    let (permit, gate) = (quoted(files.permit(of: submission)), quoted(files.gate(of: submission)))
    let revoked = quoted(files.revokedPermit(of: submission))
    return """
      (umask 077 && mkdir -p -- \(quoted(files.directory))) 2>/dev/null
      echo \(marker)
      ln -s revoked \(gate) 2>/dev/null
      case "$(readlink \(gate))" in
        revoked) echo revoked ;;
        submitted)
          mv -f -- \(permit) \(revoked) 2>/dev/null
          if [ -e \(revoked) ]; then
            echo revoked
          elif [ -e \(permit) ]; then
            echo files
          else
            echo started
          fi ;;
        *) echo files ;;
      esac

      """
  }

  /// Returns the text that prints Slurm's own record of a job: a line with the marker and the exit status of
  /// `scontrol`, its output, and a line with the marker.
  static func showJob(_ submission: SlurmSubmission, marker: String) -> String {
    """
    unset SLURM_CLUSTERS
    opq_job=$(scontrol -a -o show job '\(submission.id ?? 0)' 2>&1 </dev/null)
    printf '%s %s\\n%s\\n%s\\n' \(marker) "$?" "$opq_job" \(marker)

    """
  }

  /// Returns the text that deletes the files of a job. The link of a revoked submission stays, because this submission
  /// may reach Slurm later.
  static func delete(_ files: SlurmFiles) -> String {
    """
    for opq_file in \(quoted(files.base)).*; do
      [ "$(readlink "$opq_file")" = revoked ] || rm -f -- "$opq_file"
    done

    """
  }
}

extension String {
  /// Returns the text with other bytes in the place of each occurrence of an ASCII character.
  fileprivate func replacing(_ scalar: Unicode.Scalar, by text: String) -> String {
    var result = String.UnicodeScalarView()
    for element in unicodeScalars {
      if element == scalar {
        result += text.unicodeScalars
      } else {
        result.append(element)
      }
    }
    return String(result)
  }
}
