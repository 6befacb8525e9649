// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// For what a process is to end with.
public enum Forever {
  /// Never frees an object.
  public static func keep(_ object: AnyObject) { _ = Unmanaged.passRetained(object) }
}
