// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands
import Testing
