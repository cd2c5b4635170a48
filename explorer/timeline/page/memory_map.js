'use strict';
// The lane of the memory: its layout, and in the background the contents of each row of words, step
// by step. A program's script may show its memory with an object of its own that has the same
// functions: height, effectRect, drawNames, draw.

const nameHeight = 16;     // of the lane, above the rows
const wordHeight = 14;
const tallestWords = 420;

class WordMap {
  constructor(timeline) {
    this.timeline = timeline;
    this.count = Math.max(1, timeline.wordRows.name.length);
    this.rowOfEffects = timeline.effects.offset.map((offset, effect) =>
        this.rowOf(timeline.effects.memory[effect], offset));
  }

  // Before it is stretched.
  height() { return nameHeight + this.rowsHeight(); }
  rowsHeight() { return Math.min(tallestWords, this.count * wordHeight); }

  // Of requests that did not arrive, the memory is not known.
  rowOf(memory, offset) {
    const {memory: memories, offset: offsets, length} = this.timeline.wordRows;
    return Math.max(0, offsets.findIndex((begin, row) =>
        (memory === null || memories[row] === memory) && offset >= begin && offset < begin + length[row]));
  }

  // Where a row is if its lane begins at `top`.
  rowRect(row, {top, stretch}) {
    const height = this.rowsHeight() / this.count * stretch;
    return {y: top + nameHeight * stretch + row * height, height};
  }

  effectRect(effect, frame) {
    const {offset, length} = this.timeline.effects;
    const first = this.rowOfEffects[effect];
    const end = offset[effect] + length[effect];
    const rows = this.timeline.wordRows;
    let last = first;
    while (last + 1 < this.count && rows.memory[last + 1] === rows.memory[first] && rows.offset[last + 1] < end) ++last;
    const {y, height} = this.rowRect(first, frame);
    return {y: y + 1, height: Math.max(2, (last - first + 1) * height - 2)};
  }

  drawNames({context, layout, timeline, colours}) {
    context.textAlign = 'right';
    context.fillStyle = colours.muted;
    const every = Math.max(1, Math.ceil(11 / this.rowRect(0, layout.memoryFrame).height));
    for (let row = 0; row < timeline.wordRows.name.length; row += every) {
      const {y, height} = this.rowRect(row, layout.memoryFrame);
      const name = shorten(timeline.text(timeline.wordRows.name[row]), 16);
      context.fillText(name, gutterWidth - 6, y + height / 2);
    }
    context.textAlign = 'left';
  }

  draw(painter) {
    const {layout, timeline, colours, context} = painter;
    const texts = timeline.data.words.changes.text;
    for (let row = 0; row < timeline.wordRows.name.length; ++row) {
      const rect = this.rowRect(row, layout.memoryFrame);
      context.fillStyle = colours.grid;
      context.fillRect(gutterWidth, rect.y + rect.height - 1, layout.width, 1);
      drawSpans(painter, timeline.words, row, rect, () => colours['slot-live'],
                index => `= ${timeline.text(texts[index])}`);
    }
  }
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
