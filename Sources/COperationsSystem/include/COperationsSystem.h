// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
//
// Functions that Glibc's Swift module does not import.
#pragma once
#include "COperationsSystemProcess.h"
#include "COperationsSystemThreads.h"
