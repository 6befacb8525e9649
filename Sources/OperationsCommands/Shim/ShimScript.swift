// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The shell script of a shim.
///
/// The shim's descriptors are: 0, the file that is locked while the shim is alive; 1, the log of the command; 2,
/// `/dev/null`. The arguments are: 1, the path that all files begin with; 2, the program `setsid`; 3, the shell of the
/// command; 4, the text of the command.
///
/// The shim executes as few programs as possible, because the start of a program costs much more than everything else.
enum ShimScript {
  /// Creates the command that is the shim of another command.
  static func shim(
    for command: Command, shell: String, text: String, files: ShimFiles, programs: ShimPrograms
  ) -> Command {
    let variable = variable { name in
      command.environment[name] != nil || csystem_secure_environment(name) != nil
    }
    var shim = Command(
      "/bin/sh",
      ["-c", script(variable), "opq-shim", files.base, programs.setsid, shell, text])
    shim.name = command.name
    shim.environment = command.environment
    shim.inheritsEnvironment = command.inheritsEnvironment
    shim.workingDirectory = command.workingDirectory
    return shim
  }

  /// Creates the script.
  ///
  /// - The first line writes the line of the shim to the locked file. It identifies the shim's process.
  /// - The second line starts the command. Its process adds a line to the same file, which identifies the process group,
  ///   and only then becomes the leader of the group. It replaces its input, so it does not keep the lock.
  /// - The last lines write the exit status to a file, and exit with it. If the shim is killed before this, or if the
  ///   system has no space, the file does not exist or is empty. No process reads the file before the shim has ended, so it
  ///   needs no other name until it is complete. A program that renames it would cost as much as a third of the shim.
  ///
  /// The operators `&&` and `||` protect the script from the option `errexit`, and `command` protects it from functions
  /// with the names of other commands: bash inherits both from the environment.
  ///
  /// - Parameter variable: The name of a variable that the environment does not have. The shell would pass a variable of
  ///   the environment, with its new value, to the command.
  /// - Returns: The script, for dash, bash and every other shell of POSIX.
  static func script(_ variable: String) -> String {
    """
    command read -r \(variable) </proc/self/stat && command echo "$\(variable)" >&0
    (command read -r \(variable) </proc/self/stat && command echo "$\(variable)" >&0
    exec <&2 2>&1 "$2" "$3" -c "$4") && \(variable)=0 || \(variable)=$?
    umask 077; command echo "$\(variable)" >"$1.status"
    exit "$\(variable)"
    """
  }

  /// Chooses the name of the script's variable.
  ///
  /// - Parameter isTaken: Returns whether the environment has a variable with a name.
  /// - Returns: A name that the environment does not have.
  static func variable(avoiding isTaken: (String) -> Bool) -> String {
    var name = "opq_shim"
    while isTaken(name) { name += "_" }
    return name
  }
}
