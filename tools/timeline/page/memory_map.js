'use strict';
// The background of the device's lane: the state of each slot and region, step by step.

function drawMemoryNames(painter) {
  const {context, layout, timeline, colours} = painter;
  const {geometry} = timeline;
  if (layout.isHidden(timeline.deviceLane)) return;
  context.textAlign = 'right';
  context.fillStyle = colours.muted;
  const slot = layout.slotRect(0);
  const every = Math.max(1, Math.ceil(11 / slot.height));
  for (let index = 0; index < geometry.table_entries; index += every) {
    const {y, height} = layout.slotRect(index);
    context.fillText(`slot ${index}`, gutterWidth - 6, y + height / 2);
  }
  for (let band = 0; band < geometry.region_count + 2; ++band) {
    const {y, height} = layout.bandRect(band);
    if (height < 9 && band % 4 !== 0) continue;
    const isRegion = band < geometry.region_count;
    const name = isRegion ? `region ${band}` : `mature ${band - geometry.region_count}`;
    context.fillText(name, gutterWidth - 6, y + height / 2);
  }
  context.textAlign = 'left';
}

function drawMemoryMap(painter) {
  const {layout, timeline, colours, context} = painter;
  if (layout.isHidden(timeline.deviceLane)) return;
  const {geometry} = timeline;
  context.fillStyle = colours.grid;
  for (let band = 0; band < geometry.region_count + 2; ++band) {
    const {y, height} = layout.bandRect(band);
    context.fillRect(gutterWidth, y + height - 1, layout.width, 1);
  }
  for (let slot = 0; slot < geometry.table_entries; ++slot) {
    drawSpans(painter, timeline.slots, slot, layout.slotRect(slot),
              index => colours[slotColour(timeline, index)]);
  }
  for (let region = 0; region < geometry.region_count; ++region) {
    drawSpans(painter, timeline.regions, region, layout.bandRect(region),
              index => colours[timeline.text(timeline.data.memory.regions.state[index])],
              index => regionLabel(timeline, index));
  }
  for (let space = 0; space < 2; ++space) {
    drawSpans(painter, timeline.spaces, space, layout.bandRect(geometry.region_count + space),
              index => colours[spaceColour(timeline, index)]);
  }
}

function slotColour(timeline, index) {
  const entry = decodeEntry(timeline.data.memory.slots.word[index], timeline.geometry);
  if (entry.isLocked) return 'slot-locked';
  if (entry.isEmpty) return '';
  return entry.isDeleted ? 'slot-deleted' : 'slot-live';
}

function spaceColour(timeline, index) {
  const {spaces} = timeline.data.memory;
  return spaces.waiting[index] ? 'waiting' : spaces.active[index] ? 'active' : '';
}

function regionLabel(timeline, index) {
  const {regions} = timeline.data.memory;
  const state = timeline.text(regions.state[index]);
  if (state === 'free') return '';
  const owner = timeline.ownerOf(regions.connection[index]);
  return owner === '' ? state : `${state} to ${owner}`;
}

// The visible states of a place between its changes. Merges changes that are less than a pixel
// apart.
function drawSpans(painter, changes, place, {y, height}, colourOf, labelOf = () => '') {
  const {context, layout, timeline, colours} = painter;
  const steps = changes.steps[place];
  if (y > layout.height || y + height < rulerHeight) return;
  let lastLabel = '';
  for (let index = Math.max(0, countUpTo(steps, layout.first) - 1); index < steps.length; ++index) {
    const x = Math.max(gutterWidth, layout.x(steps[index]));
    if (x > layout.width) return;
    const end = layout.x(steps[index + 1] ?? timeline.steps + 1);
    if (end - x < 0.4) continue;
    const record = changes.changes[place][index];
    const colour = colourOf(record);
    const label = labelOf(record);
    if (colour) {
      context.fillStyle = colour;
      context.fillRect(x, y + 0.5, end - x, height - 1);
    }
    if (label !== lastLabel && end - x > 40 && height >= 11) {
      painter.write(label, x + 5, y + height / 2, end - x - 6, colours.muted);
    }
    lastLabel = label;
  }
}
