'use strict';
// The lane of the store's memory: a line for each slot of the tables and a band for each region and
// mature space, and in the background their states, step by step.

const slotHeight = 9;
const bandHeight = 18;     // of a region or mature space
const tallestTable = 170;
const tallestBands = 240;

class StoreMap {
  constructor(memory) {
    this.memory = memory;
    this.timeline = memory.timeline;
  }

  height() { return this.tableHeight() + 6 + this.bandsHeight(); }

  tableHeight() {
    return Math.min(tallestTable, this.memory.geometry.slot_count * slotHeight);
  }

  bandsHeight() {
    return Math.min(tallestBands, this.bandCount() * bandHeight);
  }

  // The line of a slot in the device's lane.
  slotRect(slot, {top, stretch}) {
    const height = this.tableHeight() / this.memory.geometry.slot_count * stretch;
    return {y: top + slot * height, height};
  }

  bandCount() {
    const {geometry} = this.memory;
    return geometry.region_count + geometry.mature_offsets.length;
  }

  // The band of a region or, after the regions, of a mature space.
  bandRect(band, {top, stretch}) {
    const height = this.bandsHeight() / this.bandCount() * stretch;
    const first = top + (this.tableHeight() + 6) * stretch;
    return {y: first + band * height, height};
  }

  // The position of the bytes that an effect accesses.
  effectRect(effect, frame) {
    const {offset: offsets, length} = this.memory.timeline.effects;
    const offset = offsets[effect];
    const lengthBytes = length[effect];
    const {geometry} = this.memory;
    const place = placeOf(offset, geometry);
    if (place.part === 'superblock') return {y: this.slotRect(0, frame).y - 4, height: 4};
    if (place.part === 'table') {
      const {y, height} = this.slotRect(place.number, frame);
      const slots = Math.max(1, Math.ceil(lengthBytes / 8));
      return {y, height: Math.max(2, Math.min(slots, geometry.slot_count - place.number) * height)};
    }
    const isRegion = place.part === 'region';
    const band = isRegion ? place.number : geometry.region_count + place.number;
    const size = isRegion ? geometry.region_bytes : geometry.mature_bytes;
    const {y, height} = this.bandRect(band, frame);
    const begin = Math.min(place.byte / size, 1) * (height - 4);
    const extent = Math.min(lengthBytes / size, 1 - place.byte / size) * (height - 4);
    return {y: y + 2 + begin, height: Math.max(3, extent)};
  }

  drawNames({context, layout, colours}) {
    const {geometry} = this.memory;
    context.textAlign = 'right';
    context.fillStyle = colours.muted;
    const slot = this.slotRect(0, layout.memoryFrame);
    const every = Math.max(1, Math.ceil(11 / slot.height));
    for (let index = 0; index < geometry.slot_count; index += every) {
      const {y, height} = this.slotRect(index, layout.memoryFrame);
      context.fillText(`slot ${index}`, gutterWidth - 6, y + height / 2);
    }
    for (let band = 0; band < this.bandCount(); ++band) {
      const {y, height} = this.bandRect(band, layout.memoryFrame);
      if (height < 9 && band % 4 !== 0) continue;
      const isRegion = band < geometry.region_count;
      const name = isRegion ? `region ${band}` : `mature ${band - geometry.region_count}`;
      context.fillText(name, gutterWidth - 6, y + height / 2);
    }
    context.textAlign = 'left';
  }

  draw(painter) {
    const {layout, timeline, colours, context} = painter;
    const {geometry, slots, regions, spaces} = this.memory;
    context.fillStyle = colours.grid;
    for (let band = 0; band < this.bandCount(); ++band) {
      const {y, height} = this.bandRect(band, layout.memoryFrame);
      context.fillRect(gutterWidth, y + height - 1, layout.width, 1);
    }
    for (let slot = 0; slot < geometry.slot_count; ++slot) {
      drawSpans(painter, slots, slot, this.slotRect(slot, layout.memoryFrame),
                index => colours[this.slotColour(index)]);
    }
    for (let region = 0; region < geometry.region_count; ++region) {
      drawSpans(painter, regions, region, this.bandRect(region, layout.memoryFrame),
                index => colours[timeline.text(timeline.data.memory.regions.state[index])],
                index => this.regionLabel(index));
    }
    for (let space = 0; space < geometry.mature_offsets.length; ++space) {
      drawSpans(painter, spaces, space, this.bandRect(geometry.region_count + space, layout.memoryFrame),
                index => colours[this.spaceColour(index)]);
    }
  }

  slotColour(index) {
    const {timeline} = this;
    const entry = decodeEntry(timeline.data.memory.slots.word[index], this.memory.geometry);
    if (entry.isLocked) return 'slot-locked';
    if (entry.isEmpty) return '';
    return entry.isDeleted ? 'slot-deleted' : 'slot-live';
  }

  spaceColour(index) {
    const {timeline} = this;
    const {spaces} = timeline.data.memory;
    return spaces.waiting[index] ? 'waiting' : spaces.active[index] ? 'active' :
      spaces.used[index] > 0 ? 'full' : '';
  }

  regionLabel(index) {
    const {timeline} = this;
    const {regions} = timeline.data.memory;
    const state = timeline.text(regions.state[index]);
    if (state === 'free') return '';
    const owner = this.memory.ownerOf(regions.connection[index]);
    return owner === '' ? state : `${state} to ${owner}`;
  }
}
