// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// What several files of this target share.
#pragma once

// Returns the same file under a descriptor of at least 3, or the negative error number. A descriptor below 3 would
// keep its close-on-exec flag if a spawn duplicates it to its own number.
int csystem_above_standard_streams(int file);
