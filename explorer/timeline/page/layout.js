'use strict';
// The layout of the picture: horizontally the visible steps, vertically the lanes, which stretch to
// fill the picture if there are few.

const gutterWidth = 104;   // names of the lanes
const rulerHeight = 38;    // steps, and the flags of key steps
const laneGap = 8;
const operationHeight = 20;
const requestHeight = 9;
const fiberHeight = 5;
const mostRows = 8;        // of requests; further ones share the last row
const mostFibers = 6;      // rows of fibers; further ones share the last row

class Layout {
  // `memory` lays out the lane of the memory (memory_map.js).
  constructor(timeline, memory) {
    this.timeline = timeline;
    this.memory = memory;
    this.first = 0;                  // step at the left edge; may be fractional
    this.pixelsPerStep = 1;
    this.top = 0;                    // how far the lanes are scrolled
    this.width = 100;
    this.height = 100;
    this.hiddenLanes = new Set();
    this.place();
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.place();
    this.clamp();
  }

  // ---- vertically

  place() {
    const natural = this.timeline.lanes.map((lane, index) => this.naturalHeight(lane, index));
    const shown = natural.filter(height => height > 0);
    const room = this.height - rulerHeight - shown.length * laneGap;
    const total = shown.reduce((sum, height) => sum + height, 1);
    this.stretch = Math.min(2.8, Math.max(1, room / total));
    let top = rulerHeight;
    this.lanes = natural.map(height => {
      const lane = {top, height: height * this.stretch};
      if (height > 0) top += lane.height + laneGap;
      return lane;
    });
    this.contentHeight = top;
  }

  naturalHeight(lane, index) {
    if (this.hiddenLanes.has(index)) return 0;
    if (lane.kind === 'device') return this.memory.height();
    const operations = Math.min(lane.operation_rows, 4) * (operationHeight + 2);
    const requests = Math.min(lane.request_rows, mostRows) * (requestHeight + 2);
    const fibers = Math.min(lane.fiber_rows, mostFibers) * fiberHeight;
    return Math.max(18, 6 + operations + requests + fibers);
  }

  isHidden(lane) { return this.hiddenLanes.has(lane); }

  laneTop(lane) { return this.lanes[lane].top - this.top; }

  operationRect(lane, row) {
    const rows = Math.min(row, 3);
    return {
      y: this.laneTop(lane) + (3 + rows * (operationHeight + 2)) * this.stretch,
      height: operationHeight * this.stretch,
    };
  }

  requestRect(lane, row) {
    const operations = Math.min(this.timeline.lanes[lane].operation_rows, 4);
    const rows = Math.min(row, mostRows - 1);
    const above = 3 + operations * (operationHeight + 2) + rows * (requestHeight + 2);
    return {y: this.laneTop(lane) + above * this.stretch, height: requestHeight * this.stretch};
  }

  // The row of a fiber, below the requests.
  fiberRect(lane, row) {
    const {operation_rows: operations, request_rows: requests} = this.timeline.lanes[lane];
    const above = 3 + Math.min(operations, 4) * (operationHeight + 2) +
        Math.min(requests, mostRows) * (requestHeight + 2) + Math.min(row, mostFibers - 1) * fiberHeight;
    return {y: this.laneTop(lane) + above * this.stretch, height: (fiberHeight - 1) * this.stretch};
  }

  // The position of an effect in the memory's lane.
  effectRect(effect) { return this.memory.effectRect(effect, this.memoryFrame); }
  get memoryFrame() { return {top: this.laneTop(this.timeline.deviceLane), stretch: this.stretch}; }

  scroll(pixels) {
    this.top += pixels;
    this.clamp();
  }

  // ---- horizontally

  x(step) { return gutterWidth + (step - this.first) * this.pixelsPerStep; }
  step(x) { return this.first + (x - gutterWidth) / this.pixelsPerStep; }
  get last() { return this.step(this.width); }
  get plotWidth() { return Math.max(50, this.width - gutterWidth); }

  show(first, last) {
    this.pixelsPerStep = this.plotWidth / Math.max(10, last - first);
    this.first = first;
    this.clamp();
  }

  zoom(factor, x) {
    const step = this.step(x);
    const least = this.plotWidth / (this.timeline.steps * 1.04 + 10);
    this.pixelsPerStep = Math.min(90, Math.max(least, this.pixelsPerStep * factor));
    this.first = step - (x - gutterWidth) / this.pixelsPerStep;
    this.clamp();
  }

  pan(pixels) {
    this.first -= pixels / this.pixelsPerStep;
    this.clamp();
  }

  // Scrolls by the minimum that makes the step visible.
  reveal(step) {
    const margin = Math.min(40, this.plotWidth / 8) / this.pixelsPerStep;
    if (step < this.first + margin) this.first = step - margin;
    if (step > this.last - margin) this.first += step + margin - this.last;
    this.clamp();
  }

  clamp() {
    const visible = this.plotWidth / this.pixelsPerStep;
    const spare = 0.02 * this.timeline.steps + 3;
    const most = Math.max(-spare, this.timeline.steps + spare - visible);
    this.first = Math.max(-spare, Math.min(most, this.first));
    this.top = Math.max(0, Math.min(this.contentHeight - this.height, this.top));
  }
}
