'use strict';
// The layout of the picture: horizontally the visible steps, vertically the lanes, which stretch to
// fill the picture if there are few.

const gutterWidth = 104;   // names of the lanes
const rulerHeight = 38;    // steps, and the flags of key steps
const laneGap = 8;
const operationHeight = 20;
const requestHeight = 9;
const slotHeight = 9;
const bandHeight = 18;     // of a region or mature space
const mostRows = 8;        // of requests; further ones share the last row
const tallestTable = 170;
const tallestBands = 240;

class Layout {
  constructor(timeline) {
    this.timeline = timeline;
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
    if (lane.kind === 'device') return this.tableHeight() + 6 + this.bandsHeight();
    const operations = Math.min(lane.operation_rows, 4) * (operationHeight + 2);
    const requests = Math.min(lane.request_rows, mostRows) * (requestHeight + 2);
    return Math.max(18, 6 + operations + requests);
  }

  tableHeight() {
    return Math.min(tallestTable, this.timeline.geometry.table_entries * slotHeight);
  }

  bandsHeight() {
    return Math.min(tallestBands, (this.timeline.geometry.region_count + 2) * bandHeight);
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

  // The line of a slot in the device's lane.
  slotRect(slot) {
    const height = this.tableHeight() / this.timeline.geometry.table_entries * this.stretch;
    return {y: this.laneTop(this.timeline.deviceLane) + slot * height, height};
  }

  // The band of a region or, after the regions, of a mature space.
  bandRect(band) {
    const bands = this.timeline.geometry.region_count + 2;
    const height = this.bandsHeight() / bands * this.stretch;
    const top = this.laneTop(this.timeline.deviceLane) + (this.tableHeight() + 6) * this.stretch;
    return {y: top + band * height, height};
  }

  // The position of bytes in the device's lane.
  memoryRect(offset, lengthBytes) {
    const {geometry} = this.timeline;
    const place = placeOf(offset, geometry);
    if (place.part === 'superblock') return {y: this.slotRect(0).y - 4, height: 4};
    if (place.part === 'table') {
      const {y, height} = this.slotRect(place.number);
      const slots = Math.max(1, Math.ceil(lengthBytes / 8));
      return {y, height: Math.max(2, Math.min(slots, geometry.table_entries - place.number) * height)};
    }
    const isRegion = place.part === 'region';
    const band = isRegion ? place.number : geometry.region_count + place.number;
    const size = isRegion ? geometry.region_bytes : geometry.mature_bytes;
    const {y, height} = this.bandRect(band);
    const begin = Math.min(place.byte / size, 1) * (height - 4);
    const extent = Math.min(lengthBytes / size, 1 - place.byte / size) * (height - 4);
    return {y: y + 2 + begin, height: Math.max(3, extent)};
  }

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
