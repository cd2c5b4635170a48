'use strict';
// Draws the visible part of the picture; for long runs, only what can be distinguished.

const colourNames = [
  'background', 'lane', 'grid', 'text', 'muted', 'cursor', 'on-colour', 'get', 'set', 'delete',
  'read', 'write', 'swap', 'message', 'processor', 'violation', 'critical', 'origin', 'stale', 'context',
  'slot-live', 'slot-deleted', 'slot-locked', 'granted', 'released', 'collecting', 'waiting', 'active',
];
const requestColours = {READ: 'read', WRITE: 'write', CAS: 'swap', FETCH_ADD: 'swap', SEND: 'message'};
// "WRITE with immediate" has the colour of WRITE, and "masked CAS" that of CAS.
function colourOfRequests(kind) {
  const verb = Object.keys(requestColours).find(name => kind.includes(name));
  return requestColours[verb] ?? 'message';
}
// Colours of operations by kind: those of the style sheet with that name, or else one after another.
const operationColours = ['get', 'set', 'delete', 'processor', 'write', 'message'];
const linesFromPixelsPerStep = 2.2;   // below this, lines merge into a gray area
const headsFromPixelsPerStep = 5;     // below this, arrowheads merge into blots
const denseBelowPixelsPerStep = 0.5;  // draws one of several bars that are less than two pixels apart
const textFromPixels = 26;
const markSymbols = {crashed: '✖', fence: '⊘', error: '⚡', closed: '×', started: '▸', note: '✎'};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
      colourNames.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// Fits a canvas to its element, in device pixels.
function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

class Painter {
  // `state` contains the step, whether key steps are highlighted, and the item under the pointer.
  constructor(canvas, timeline, layout, filters, keySteps, state) {
    Object.assign(this, {canvas, timeline, layout, filters, keySteps, state});
    this.operationColours = filters.operationKind.map(kind => filters.colourOfOperations(kind));
    this.requestColours = filters.requestKind.map(kind => colourOfRequests(kind));
    this.refreshColours();
    this.drawn = [];   // items for the pointer: {x, y, width, height, kind, index}
  }

  refreshColours() { this.colours = readColours(); }

  draw(context = fitCanvas(this.canvas)) {
    this.context = context;
    const {layout, colours} = this;
    this.drawn = [];
    this.bodyFont = `${layout.width > 1500 ? 13 : 11.5}px system-ui, "DejaVu Sans", sans-serif`;
    context.font = this.bodyFont;
    context.textBaseline = 'middle';
    context.fillStyle = colours.background;
    context.fillRect(0, 0, layout.width, layout.height);
    this.drawLanes();
    context.save();
    context.beginPath();
    context.rect(gutterWidth, rulerHeight, layout.width - gutterWidth, layout.height - rulerHeight);
    context.clip();
    if (!this.layout.isHidden(this.timeline.deviceLane)) this.layout.memory.draw(this);
    this.drawGrid();
    this.drawStandstills();
    this.drawLines();
    this.drawOperations();
    this.drawRequests();
    this.drawFibers();
    this.drawEffects();
    this.drawSources();
    this.drawMarks();
    context.restore();
    this.drawRuler();
    this.drawCursor();
    this.drawKeySteps();
  }

  // The opacity of an item; items that led to the violation are highlighted.
  alpha(isKey) { return this.state.isFocused && !isKey ? 0.3 : 1; }

  // ---- the frame

  drawLanes() {
    const {context, layout, timeline, colours} = this;
    timeline.lanes.forEach((lane, index) => {
      if (layout.isHidden(index)) return;
      const {height} = layout.lanes[index];
      const y = layout.laneTop(index);
      context.fillStyle = colours.lane;
      context.fillRect(0, y - 3, layout.width, height + 5);
      context.fillStyle = colours.text;
      context.font = `600 ${this.bodyFont}`;
      context.textAlign = 'left';
      context.fillText(lane.name, 10, y + 10);
      context.font = this.bodyFont;
    });
    if (!layout.isHidden(timeline.deviceLane)) layout.memory.drawNames(this);
  }

  // Steps between lines of the grid: 1, 2, 5, 10, 20, ...
  gridInterval() {
    for (let power = 1;; power *= 10) {
      for (const factor of [1, 2, 5]) {
        if (factor * power * this.layout.pixelsPerStep >= 64) return factor * power;
      }
    }
  }

  forEachGridLine(visit) {
    const interval = this.gridInterval();
    const begin = Math.max(0, Math.ceil(this.layout.first / interval) * interval);
    const end = Math.min(this.layout.last, this.timeline.steps);
    for (let step = begin; step <= end; step += interval) visit(step, this.layout.x(step));
  }

  drawGrid() {
    const {context, layout, colours} = this;
    context.fillStyle = colours.grid;
    this.forEachGridLine((step, x) => context.fillRect(x, rulerHeight, 1, layout.height));
  }

  drawRuler() {
    const {context, layout, colours} = this;
    context.fillStyle = colours.background;
    context.fillRect(0, 0, layout.width, rulerHeight - 4);
    context.fillStyle = colours.muted;
    context.textAlign = 'center';
    this.forEachGridLine((step, x) => {
      if (x > gutterWidth - 1) context.fillText(step.toLocaleString('en'), x, 8);
    });
    context.textAlign = 'left';
    context.fillText('step', 10, 8);
  }

  // ---- pauses

  drawStandstills() {
    const {context, layout, timeline, colours} = this;
    for (const {lane, host, first, last} of timeline.data.standstills) {
      if (layout.isHidden(lane)) continue;
      const x = layout.x(first);
      const end = layout.x(last ?? timeline.steps);
      if (end < gutterWidth || x > layout.width) continue;
      const y = layout.laneTop(lane) - 2;
      const {height} = layout.lanes[lane];
      const width = Math.max(2, end - x);
      this.hatch(x, y, width, height + 3, host ? colours.critical : colours.message);
      context.fillStyle = colours.critical;
      if (width > 60) context.fillText(host ? 'paused' : 'stalled', Math.max(x, gutterWidth) + 4, y + height - 5);
    }
  }

  hatch(x, y, width, height, colour) {
    const {context} = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.globalAlpha = 0.4;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    const begin = Math.max(x, gutterWidth) - height;
    for (let line = begin; line < Math.min(x + width, this.layout.width); line += 7) {
      context.moveTo(line, y + height);
      context.lineTo(line + height, y);
    }
    context.stroke();
    context.restore();
  }

  // ---- operations and requests

  drawOperations() {
    const {layout, timeline, filters} = this;
    const {lane, row} = timeline.operations;
    const covered = new Map();
    timeline.operationBars.forEachWithin(layout.first, layout.last, index => {
      if (!filters.operationShown[index] || layout.isHidden(lane[index])) return;
      const bars = timeline.operationBars;
      const isKey = this.keySteps.hasOperation(index);
      if (!isKey && this.isCovered(covered, lane[index] * 64 + Math.min(row[index], 3), bars, index)) return;
      const {y, height} = layout.operationRect(lane[index], row[index]);
      const isOpen = timeline.operations.return[index] === null;
      this.drawBar('operation', index, bars.begins[index], bars.ends[index], y, height,
                   this.colours[this.operationColours[index]], isKey, isOpen);
      this.labelBar(index, bars, y, height);
    });
  }

  // Whether bars that are already drawn hide this one in a dense picture; `covered` is the end of
  // the drawn part of each row.
  isCovered(covered, place, bars, index) {
    const {layout} = this;
    if (layout.pixelsPerStep >= denseBelowPixelsPerStep) return false;
    const x = layout.x(bars.begins[index]);
    const end = Math.max(x + 2, layout.x(bars.ends[index]));
    const last = covered.get(place) ?? -Infinity;
    if (x < last && end < last + 2) return true;
    covered.set(place, Math.max(last, end));
    return false;
  }

  drawBar(kind, index, begin, end, y, height, colour, isKey, isOpen) {
    const {context, layout} = this;
    const x = layout.x(begin);
    const width = Math.max(kind === 'operation' ? 3 : 2, layout.x(end) - x);
    context.globalAlpha = this.alpha(isKey);
    context.fillStyle = colour;
    if (width < 6) {
      context.fillRect(x, y, width, height);
    } else {
      context.beginPath();
      context.roundRect(x, y, width, height, Math.min(4, height / 2));
      context.fill();
    }
    if (isOpen) {   // it never completed
      context.fillStyle = this.colours.lane;
      for (let gap = x + width - 24; gap < x + width; gap += 6) context.fillRect(gap, y, 2, height);
    }
    context.globalAlpha = 1;
    const isPointedAt = this.state.pointed?.kind === kind && this.state.pointed.index === index;
    if (this.keySteps.isViolating(kind, index) || isPointedAt) {
      context.lineWidth = 2;
      context.strokeStyle = isPointedAt ? this.colours.cursor : this.colours.violation;
      context.strokeRect(x - 1, y - 1, width + 2, height + 2);
    }
    this.drawn.push({x, y, width, height, kind, index});
  }

  labelBar(index, bars, y, height) {
    const {context, layout, timeline} = this;
    const begin = Math.max(gutterWidth, layout.x(bars.begins[index]));
    const room = Math.min(layout.width, layout.x(bars.ends[index])) - begin;
    if (room < textFromPixels) return;
    const text = room > 170 ? timeline.describeOperation(index, 14)
                            : timeline.labelOperation(index, 14);
    const isPale = this.alpha(this.keySteps.hasOperation(index)) < 1;
    const colour = this.colours[isPale ? 'muted' : 'on-colour'];
    this.write(text, begin + 5, y + height / 2 + 0.5, room - 8, colour);
  }

  // Draws as much of a text as fits.
  write(text, x, y, room, colour) {
    const {context} = this;
    context.fillStyle = colour;
    context.textAlign = 'left';
    let shown = text;
    if (context.measureText(text).width > room) {
      const perCharacter = context.measureText(text).width / text.length;
      shown = text.slice(0, Math.max(0, Math.floor(room / perCharacter) - 1)) + '…';
    }
    if (shown.length > 2) context.fillText(shown, x, y);
  }

  drawRequests() {
    const {layout, timeline, filters} = this;
    const {lane, row, completed} = timeline.requests;
    const covered = new Map();
    timeline.requestBars.forEachWithin(layout.first, layout.last, index => {
      if (!filters.requestShown[index] || layout.isHidden(lane[index])) return;
      const bars = timeline.requestBars;
      const isKey = this.keySteps.hasRequest(index);
      const place = lane[index] * 64 + Math.min(row[index], mostRows - 1);
      if (!isKey && this.isCovered(covered, place, bars, index)) return;
      const {y, height} = layout.requestRect(lane[index], row[index]);
      this.drawBar('request', index, bars.begins[index], bars.ends[index], y, height,
                   this.colours[this.requestColours[index]], isKey, completed[index] === null);
      const isEarly = completed[index] !== null && completed[index] < bars.ends[index];
      if (isEarly) this.notch(layout.x(completed[index]), y, height);
    });
  }

  // Marks where a request completes before its last effect, with words still to be placed.
  notch(x, y, height) {
    this.context.fillStyle = this.colours.text;
    this.context.fillRect(x - 0.75, y - 2, 1.5, height + 4);
  }

  // Whether the pointer is on a request, on one of its effects, or on its operation.
  isPointedAt(request) {
    const {pointed} = this.state;
    if (pointed === null) return false;
    const {timeline} = this;
    switch (pointed.kind) {
      case 'request': return pointed.index === request;
      case 'effect': return timeline.effects.request[pointed.index] === request;
      case 'operation': return timeline.requests.operation[request] === pointed.index;
      default: return false;
    }
  }

  // Arrows from the posting of a request to its effects, and from the last effect before its
  // completion to the completion.
  drawLines() {
    const {context, layout, timeline, filters} = this;
    const {lane, row, completed} = timeline.requests;
    const {step} = timeline.effects;
    const drawsAll = layout.pixelsPerStep >= linesFromPixelsPerStep;
    if (layout.isHidden(timeline.deviceLane)) return;
    timeline.requestBars.forEachWithin(layout.first, layout.last, index => {
      if (!filters.requestShown[index] || layout.isHidden(lane[index])) return;
      const isKey = this.keySteps.hasRequest(index);
      const isPointedAt = this.isPointedAt(index);
      if (!drawsAll && !isKey && !isPointedAt) return;
      const {y, height} = layout.requestRect(lane[index], row[index]);
      const isBelow = lane[index] > timeline.deviceLane;
      const edge = isBelow ? y : y + height;
      context.strokeStyle = this.colours[this.requestColours[index]];
      const isStrong = isPointedAt || (isKey && this.state.isFocused);
      context.globalAlpha = isStrong ? 0.95 : this.state.isFocused ? 0.13 : 0.5;
      context.lineWidth = isKey || isPointedAt ? 1.6 : 1;
      context.beginPath();
      const begin = layout.x(timeline.requestBars.begins[index]);
      let last = null;
      for (const effect of timeline.effectsOfRequests.get(index) ?? []) {
        if (filters.requestKind[index].startsWith('SEND')) continue;
        const rect = layout.effectRect(effect);
        const target = isBelow ? rect.y + rect.height : rect.y;
        const x = layout.x(step[effect]);
        this.arrow(begin, edge, x, target, isStrong);
        if (completed[index] !== null && step[effect] <= completed[index]) last = {x, y: target};
      }
      if (last !== null) this.arrow(last.x, last.y, layout.x(completed[index]), edge, isStrong);
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  // A line with an arrowhead if there is room for one.
  arrow(x, y, endX, endY, isStrong) {
    const {context, layout} = this;
    context.moveTo(x, y);
    context.lineTo(endX, endY);
    const length = Math.hypot(endX - x, endY - y);
    const size = isStrong ? 7 : 5;
    if (length < 2 * size || (!isStrong && layout.pixelsPerStep < headsFromPixelsPerStep)) return;
    const [alongX, alongY] = [(endX - x) / length * size, (endY - y) / length * size];
    context.moveTo(endX - alongX - alongY * 0.45, endY - alongY + alongX * 0.45);
    context.lineTo(endX, endY);
    context.lineTo(endX - alongX + alongY * 0.45, endY - alongY - alongX * 0.45);
  }

  // ---- fibers

  // A tick for each step in which a fiber ran.
  drawFibers() {
    const {context, layout, timeline, colours} = this;
    const {lane, row, steps} = timeline.data.fibers;
    const width = Math.max(1, Math.min(6, layout.pixelsPerStep * 0.6));
    context.fillStyle = colours.muted;
    lane.forEach((own, fiber) => {
      if (layout.isHidden(own)) return;
      const {y, height} = layout.fiberRect(own, row[fiber]);
      let last = -Infinity;
      for (let index = countUpTo(steps[fiber], layout.first - 1); index < steps[fiber].length; ++index) {
        const x = layout.x(steps[fiber][index]);
        if (x > layout.width) break;
        if (x - last < 1) continue;
        last = x;
        context.fillRect(x - width / 2, y, width, height);
      }
    });
  }

  // ---- effects

  drawEffects() {
    const {layout, timeline, filters} = this;
    const [first, end] = timeline.effectRange(Math.floor(layout.first) - 1, Math.ceil(layout.last));
    const lasts = new Map();   // position of the last effect drawn at an offset
    const apart = layout.pixelsPerStep < denseBelowPixelsPerStep ? 2 : 1;
    for (let effect = first; effect < end; ++effect) {
      if (!filters.effectShown[effect]) continue;
      const x = layout.x(timeline.effectSteps[effect]);
      const offset = timeline.effects.offset[effect];
      if (x - lasts.get(offset) < apart && !this.keySteps.hasEffect(effect)) continue;
      lasts.set(offset, x);
      this.drawEffect(effect, x);
    }
  }

  drawEffect(effect, x) {
    const {context, layout, timeline, colours} = this;
    const kind = timeline.text(timeline.effects.kind[effect]);
    const isKey = this.keySteps.hasEffect(effect);
    if (kind === 'delivered' || layout.isHidden(timeline.deviceLane)) return;
    const {y, height} = layout.effectRect(effect);
    const width = Math.max(2, Math.min(9, layout.pixelsPerStep * 0.8));
    const left = x - width / 2;
    context.globalAlpha = this.alpha(isKey);
    context.fillStyle = context.strokeStyle = this.effectColour(kind);
    if (kind === 'refused' || kind === 'lost' || kind === 'denied' || kind === 'atomic read') {
      context.lineWidth = 1.4;   // hollow: nothing has changed
      context.strokeRect(left + 0.7, y + 0.7, width - 1.4, Math.max(1, height - 1.4));
      if (kind !== 'atomic read' && width > 4) this.cross(left, y, width, height);
    } else {
      context.fillRect(left, y, width, height);
    }
    context.globalAlpha = 1;
    if (isKey || this.state.pointed?.kind === 'effect' && this.state.pointed.index === effect) {
      context.strokeStyle = isKey ? colours.violation : colours.cursor;
      context.lineWidth = 1.5;
      context.strokeRect(left - 2, y - 2, width + 4, height + 4);
    }
    this.drawn.push({x: left - 2, y: y - 1, width: width + 4, height: height + 2, kind: 'effect', index: effect});
  }

  effectColour(kind) {
    const names = {read: 'read', written: 'write', swapped: 'swap', refused: 'swap',
                   'atomic read': 'swap', stored: 'processor', lost: 'message', denied: 'violation'};
    return this.colours[names[kind] ?? 'message'];
  }

  cross(x, y, width, height) {
    const {context} = this;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + width, y + height);
    context.moveTo(x + width, y);
    context.lineTo(x, y + height);
    context.stroke();
  }

  // Arrows from the effect that wrote a word to the effect that read it.
  drawSources() {
    const {timeline, state} = this;
    const pointed = state.pointed?.kind === 'effect' ? [state.pointed.index] : [];
    for (const effect of pointed) {
      for (const source of timeline.effects.sources[effect]) this.drawArrow(source, effect, this.colours.cursor);
    }
    for (const effect of this.keySteps.staleEffects) {
      if (!this.filters.effectShown[effect]) continue;
      for (const source of timeline.effects.sources[effect]) {
        this.drawArrow(source, effect, this.colours.violation);
      }
    }
  }

  drawArrow(source, effect, colour) {
    const {context, layout, timeline} = this;
    if (layout.isHidden(timeline.deviceLane)) return;
    const {step} = timeline.effects;
    const from = layout.effectRect(source);
    const to = layout.effectRect(effect);
    const x = layout.x(step[source]);
    const end = layout.x(step[effect]) - 5;
    if (end < gutterWidth || x > layout.width) return;
    const y = from.y + from.height / 2;
    const endY = to.y + to.height / 2;
    const bend = Math.min(34, Math.max(12, (end - x) / 6));
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(x + 4, y);
    context.bezierCurveTo(x + (end - x) * 0.3, y - bend, x + (end - x) * 0.7, endY - bend, end, endY);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(end + 4, endY);
    context.lineTo(end - 5, endY - 6);
    context.lineTo(end - 2, endY + 3);
    context.fill();
    const label = `written at step ${step[source]}`;
    const room = end - x - 30;
    if (room > 90) this.write(label, x + (end - x) * 0.36, (y + endY) / 2 - bend + 1, room, colour);
  }

  // ---- marks

  drawMarks() {
    const {context, layout, timeline, colours} = this;
    for (const {kind, lane, step, text} of timeline.data.marks) {
      const x = layout.x(step);
      if (x < gutterWidth - 10 || x > layout.width + 10 || kind === 'connection') continue;
      if (lane === null) {
        this.markLine(x, text);
        continue;
      }
      if (layout.isHidden(lane)) continue;
      const y = layout.laneTop(lane) + layout.lanes[lane].height / 2;
      const isGrave = kind === 'crashed' || kind === 'error' || kind === 'fence';
      context.fillStyle = isGrave ? colours.violation : colours.muted;
      context.textAlign = 'center';
      context.font = `${isGrave ? 17 : 12}px system-ui, "DejaVu Sans", sans-serif`;
      context.fillText(markSymbols[kind], x, y);
      context.font = this.bodyFont;
      if (kind === 'note') this.write(text, x + 8, y, 160, colours.muted);
      this.drawn.push({x: x - 8, y: y - 9, width: 16, height: 18, kind: 'mark', text: `${text}, step ${step}`});
    }
  }

  markLine(x, text) {
    const {context, layout, colours} = this;
    context.strokeStyle = colours.critical;
    context.lineWidth = 1;
    context.globalAlpha = 0.7;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, rulerHeight);
    context.lineTo(x, layout.height);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
    this.drawn.push({x: x - 2, y: rulerHeight, width: 4, height: layout.height, kind: 'mark', text});
  }

  drawKeySteps() {
    const {context, layout, colours} = this;
    const flags = this.keySteps.steps.map((keyStep, index) => ({...keyStep, index, x: layout.x(keyStep.step)}))
        .filter(({x}) => x >= gutterWidth - 1 && x <= layout.width);
    const places = this.placeFlags(flags.map(({x}) => x));
    for (const [number, {x, role, index}] of flags.entries()) {
      const isHeavy = role === 'critical' || role === 'violation';
      context.fillStyle = colours[role];
      context.globalAlpha = isHeavy ? 0.95 : 0.35;
      context.fillRect(x - (isHeavy ? 1 : 0.5), rulerHeight - 6, isHeavy ? 2 : 1, layout.height);
      context.globalAlpha = 1;
      const flagX = places[number];
      this.flag(flagX, index + 1, colours[role]);
      this.drawn.push({x: flagX - 9, y: 16, width: 18, height: 18, kind: 'key', index});
    }
  }

  // Side by side, and none beyond the right edge.
  placeFlags(places) {
    const width = 19;
    let free = -Infinity;
    const moved = places.map(x => (free = Math.max(x, free) + width) - width);
    let limit = this.layout.width - width / 2;
    for (let index = moved.length - 1; index >= 0; --index, limit -= width) {
      limit = moved[index] = Math.min(moved[index], limit);
    }
    return moved;
  }

  flag(x, number, colour) {
    const {context, colours} = this;
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, 25, 8.5, 0, 7);
    context.fill();
    context.fillStyle = colours['on-colour'];
    context.textAlign = 'center';
    context.font = '600 10.5px system-ui, "DejaVu Sans", sans-serif';
    context.fillText(String(number), x, 25.5);
    context.font = this.bodyFont;
  }

  drawCursor() {
    const {context, layout, colours, state} = this;
    const x = layout.x(state.step);
    if (x < gutterWidth - 1 || x > layout.width + 1) return;
    context.fillStyle = colours.cursor;
    context.fillRect(x - 0.75, 14, 1.5, layout.height);
    const text = String(state.step);
    const width = context.measureText(text).width + 10;
    context.fillRect(x - width / 2, 0, width, 16);
    context.fillStyle = colours.background;
    context.textAlign = 'center';
    context.fillText(text, x, 8.5);
  }

  // Shows which lanes are visible if not all are.
  drawScrollBar() {
    const {context, layout, colours} = this;
    if (layout.contentHeight <= layout.height) return;
    const room = layout.height - rulerHeight;
    const share = room / (layout.contentHeight - rulerHeight);
    context.fillStyle = colours.muted;
    context.fillRect(layout.width - 6, rulerHeight + layout.top * share, 5, room * share);
  }
}
