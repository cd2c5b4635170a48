'use strict';
// The memory of the store: its slots, regions and mature spaces at a step.

class StoreMemory {
  constructor(timeline) {
    this.timeline = timeline;
    const {geometry, memory} = timeline.data;
    this.geometry = geometry;
    this.slots = new Changes(memory.slots, memory.slots.slot, geometry.slot_count);
    this.regions = new Changes(memory.regions, memory.regions.region, geometry.region_count);
    this.spaces = new Changes(memory.spaces, memory.spaces.space,
                              timeline.data.geometry.mature_offsets.length);
  }

  // The slot after the step.
  slotAt(slot, step) {
    const index = this.slots.at(slot, step);
    const {memory} = this.timeline.data;
    const word = index < 0 ? '0000000000000000' : memory.slots.word[index];
    const container = index < 0 ? null : memory.slots.container[index];
    return {
      word,
      entry: decodeEntry(word, this.geometry),
      isReadable: container !== null,
      key: container === null ? '' : this.timeline.text(memory.containers.key[container]),
      value: container === null ? '' : this.timeline.text(memory.containers.value[container]),
      isChanged: this.slots.changedAt(slot, step),
    };
  }

  regionAt(region, step) {
    const index = this.regions.at(region, step);
    const {regions} = this.timeline.data.memory;
    if (index < 0) return {state: 'free', owner: '', written: 0, live: 0, isChanged: false};
    return {
      state: this.timeline.text(regions.state[index]),
      owner: this.ownerOf(regions.connection[index]),
      written: regions.written[index],
      live: regions.live[index],
      isChanged: this.regions.changedAt(region, step),
    };
  }

  // The server numbers clients in connection order; a client's identity is known after its first
  // write.
  ownerOf(connection) {
    if (connection === null) return '';
    const lane = this.timeline.data.connection_lanes[connection] ?? null;
    return lane === null ? `connection ${connection}` : this.timeline.lanes[lane].name;
  }

  spaceAt(space, step) {
    const index = this.spaces.at(space, step);
    const {spaces} = this.timeline.data.memory;
    if (index < 0) return {state: 'unused', used: 0, live: 0, isChanged: false};
    return {
      state: spaces.waiting[index] ? 'waiting' : spaces.active[index] ? 'active' :
        spaces.used[index] > 0 ? 'full' : 'unused',
      used: spaces.used[index],
      live: spaces.live[index],
      isChanged: this.spaces.changedAt(space, step),
    };
  }

  // Whether an entry points into memory that is free or waiting to be freed.
  isDangling(entry, step) {
    if (entry.isEmpty) return false;
    const place = placeOf(entry.offset, this.geometry);
    if (place.part === 'region') {
      const {state} = this.regionAt(place.number, step);
      return state === 'free' || state === 'waiting';
    }
    return place.part === 'mature' && place.byte >= this.spaceAt(place.number, step).used;
  }
}
