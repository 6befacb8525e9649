// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The shell script of a shim.
///
/// The shim's descriptors are: 0, the file that is locked while the shim is alive; 1, the log of the command; 2,
/// `/dev/null`. The arguments are: 1, the path that all files begin with; 2, the program `setsid`; 3, the shell of the
/// command; 4, the text of the command; 5, the program `env`.
///
/// The shim executes as few programs as possible, because the start of a program costs much more than everything else.
enum ShimScript {
  /// Creates the command that is the shim of another command.
  static func shim(
    for command: Command, shell: String, text: String, files: ShimFiles, programs: ShimPrograms
  ) -> Command {
    let environment = ShimEnvironment(of: command)
    // The program `env` would take such a shell for a variable.
    let foreign = shell.utf8.contains(UInt8(ascii: "=")) ? [] : environment.foreign
    var shim = Command(
      programs.shell,
      [
        "-c", script(environment.variable, foreign: foreign.map(\.variable)), "opq-shim",
        files.base, programs.setsid, shell, text, programs.env,
      ])
    shim.name = command.name
    shim.environment = command.environment
    for (variable, entry) in foreign { shim.environment[variable] = entry }
    shim.inheritsEnvironment = command.inheritsEnvironment
    shim.workingDirectory = command.workingDirectory
    return shim
  }

  /// Creates the script.
  ///
  /// - The first line resets options that bash inherits from the variable `SHELLOPTS`. With `monitor`, the command
  ///   would not be a child of the shim. With `allexport`, it would get a variable of the shim.
  /// - The second line writes the line of the shim to the locked file. It identifies the shim's process.
  /// - The third line starts the command. Its process adds a line to the same file, which identifies the process group,
  ///   and only then becomes the leader of the group. It replaces its input, so it does not keep the lock.
  /// - The last lines write the exit status to a file, and exit with the same status. If the shim is killed before
  ///   this, or if the system has no space, the file does not exist or is empty. No process reads the file before the
  ///   shim has ended, so it needs no other name until it is complete. A program that renames it would cost as much as
  ///   a third of the shim.
  ///
  /// `|| :` protects the script from the option `errexit`, and `command` protects it from functions with the names of
  /// other commands: bash inherits both from the environment.
  ///
  /// - Parameters:
  ///   - variable: The name of a variable that the environment does not have. The shell would pass a variable of the
  ///     environment, with its new value, to the command.
  ///   - foreign: The names of the variables that contain the ``ShimEnvironment/foreign`` variables of the command. The
  ///     command does not get these names.
  /// - Returns: The script, for dash, bash and every other shell of POSIX.
  static func script(_ variable: String, foreign: [String] = []) -> String {
    let values = foreign.map { "\"$\($0)\"" }.joined(separator: " ")
    // The program `env` is a program more, so it is only started if it is needed.
    let start =
      foreign.isEmpty
      ? #"exec <&2 2>&1 "$2" "$3" -c "$4""#
      : """
      set -- "$2" "$5" -- \(values) "$3" -c "$4"
      unset \(foreign.joined(separator: " "))
      exec <&2 2>&1 "$@"
      """
    return """
      command set +am || :
      command read -r \(variable) </proc/self/stat && command echo "$\(variable)" >&0 || :
      (command read -r \(variable) </proc/self/stat && command echo "$\(variable)" >&0 || :
      \(start)) && \(variable)=0 || \(variable)=$?
      command umask 077
      command echo "$\(variable)" >"$1.status" || :
      exit "$\(variable)"
      """
  }
}
