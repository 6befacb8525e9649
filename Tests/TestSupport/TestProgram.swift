// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Programs that tests write.
package enum TestProgram {
  /// Writes a shell script that can be started at once.
  ///
  /// A child process writes the file. If this process opened the file, a process that another thread starts at the
  /// same time could inherit the descriptor, and Linux starts no program while its file is open for writing.
  ///
  /// - Parameters:
  ///   - text: The lines after the first one, which names the shell.
  ///   - path: The path of the script. It must not contain a single quotation mark.
  package static func write(_ text: String, to path: String) {
    guard let stream = popen("cat >'\(path)' && chmod 755 '\(path)'", "we") else { return }
    fputs("#!/bin/sh\n\(text)\n", stream)
    pclose(stream)
  }
}
