// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.
#include "CMonitorSystemText.h"

static inline uint8_t folded(uint8_t byte) {
  return (uint8_t)(byte - 'A') < 26 ? byte | 0x20 : byte;
}

static bool matches(const uint8_t *text, const uint8_t *part, size_t part_count) {
  for (size_t index = 0; index < part_count; index++) {
    if (folded(text[index]) != folded(part[index])) return false;
  }
  return true;
}

intptr_t cmonitor_find_ignoring_case(
    const void *text, size_t count, const void *part, size_t part_count, bool finds_last) {
  if (part_count == 0 || count < part_count) return -1;
  const uint8_t *bytes = text;
  size_t place_count = count - part_count + 1;
  const uint8_t lower = folded(*(const uint8_t *)part);
  // Most bytes differ from the first byte of the part in both cases.
  const uint8_t upper = (uint8_t)(lower - 'a') < 26 ? lower - 0x20 : lower;
  for (size_t step = 0; step < place_count; step++) {
    size_t place = finds_last ? place_count - 1 - step : step;
    if (bytes[place] != lower && bytes[place] != upper) continue;
    if (matches(bytes + place, part, part_count)) return (intptr_t)place;
  }
  return -1;
}

size_t cmonitor_plain_length(const void *text, size_t count) {
  const uint8_t *bytes = text;
  size_t length = 0;
  while (length < count) {
    uint8_t byte = bytes[length];
    bool is_plain = (byte >= 0x20 && byte < 0x7F) || byte == '\t' || byte == '\n';
    if (!is_plain) break;
    length++;
  }
  return length;
}
