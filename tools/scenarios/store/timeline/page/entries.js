'use strict';
// The store's entries and the parts of its memory.

// `word` is 16 hexadecimal digits: reference : 32 | tag : 30 | locked : 1 | deleted : 1. The low
// bits of the reference are the offset.
function decodeEntry(word, geometry) {
  const reference = parseInt(word.slice(0, 8), 16);
  const low = parseInt(word.slice(8), 16);
  return {
    offset: reference % 2 ** geometry.offset_bits * geometry.unit_bytes,
    isEmpty: reference === 0,
    tag: low >>> 2,
    isLocked: (low & 2) !== 0,
    isDeleted: (low & 1) !== 0,
  };
}

// Describes entries as the checkers do.
function describeEntry(entry) {
  const isFrozen = entry.isEmpty && entry.isDeleted && !entry.isLocked;
  const place = isFrozen ? 'frozen' : entry.isEmpty ? 'empty' : `offset ${entry.offset}`;
  const deleted = entry.isDeleted && !entry.isEmpty ? ', deleted' : '';
  return `${place}, tag ${entry.tag}${deleted}${entry.isLocked ? ', locked' : ''}`;
}

// The part that contains an offset: {part: 'superblock' | 'table' | 'region' | 'mature', number,
// byte}. Slots are numbered through all tables; those after the first are behind the mature spaces.
function placeOf(offset, geometry) {
  if (offset < geometry.table_offset) return {part: 'superblock', number: 0, byte: offset};
  const tableEnd = geometry.table_offset + 8 * geometry.table_entries;
  if (offset < tableEnd) {
    return {part: 'table', number: Math.floor((offset - geometry.table_offset) / 8), byte: 0};
  }
  if (offset >= geometry.later_tables_offset) {
    const later = Math.floor((offset - geometry.later_tables_offset) / 8);
    return {part: 'table', number: geometry.table_entries + later, byte: 0};
  }
  for (let space = geometry.mature_offsets.length - 1; space >= 0; --space) {
    const begin = geometry.mature_offsets[space];
    if (offset >= begin) return {part: 'mature', number: space, byte: offset - begin};
  }
  const fromFirst = Math.max(0, offset - geometry.region_offset);
  return {
    part: 'region',
    number: Math.floor(fromFirst / geometry.region_bytes),
    byte: fromFirst % geometry.region_bytes,
  };
}

function describePlace(offset, lengthBytes, geometry) {
  const place = placeOf(offset, geometry);
  if (place.part === 'superblock') return 'the superblock';
  if (place.part === 'table') {
    const last = place.number + Math.max(0, Math.ceil(lengthBytes / 8) - 1);
    return last > place.number ? `slots ${place.number} to ${last}` : `slot ${place.number}`;
  }
  const name = place.part === 'region' ? 'region' : 'mature space';
  return `${lengthBytes} bytes at ${offset} (${name} ${place.number}, byte ${place.byte})`;
}
