// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#pragma once
#include <stdbool.h>

#pragma clang assume_nonnull begin

/// Whether the calling code runs on the main dispatch queue, or on a queue that targets it.
bool csystem_is_on_main_dispatch_queue(void);

/// A variable of the environment; null where it is not set, or where the program has more rights than
/// who started it.
const char *_Nullable csystem_secure_environment(const char *name);

/// Starts a monitor of this process, where one is linked and the environment asks for it.
void csystem_offer_monitor(void);

#pragma clang assume_nonnull end
