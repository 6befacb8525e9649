// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OpqTop

Program.run(Array(CommandLine.arguments.dropFirst()))
