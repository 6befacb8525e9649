// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// The system calls of the library, for Linux with Glibc or musl. A port to another system needs only another
// implementation of these functions.
#pragma once
#include "COperationsSystemBlocks.h"
#include "COperationsSystemCommands.h"
#include "COperationsSystemProcess.h"
#include "COperationsSystemRemote.h"
#include "COperationsSystemShims.h"
#include "COperationsSystemThreads.h"
