'use strict';
// The strip above the picture: the whole run with its density of events and the visible part. A
// click moves there.

class Overview {
  constructor(canvas, timeline, layout, keySteps, state) {
    Object.assign(this, {canvas, timeline, layout, keySteps, state});
  }

  x(step) { return step / Math.max(1, this.timeline.steps) * this.canvas.clientWidth; }
  step(x) { return x / this.canvas.clientWidth * this.timeline.steps; }

  // The number of effects per pixel.
  densities(width) {
    if (this.counts?.length === width) return this.counts;
    this.counts = new Float32Array(width);
    for (const step of this.timeline.effectSteps) {
      this.counts[Math.min(width - 1, Math.floor(this.x(step)))] += 1;
    }
    return this.counts;
  }

  draw(colours) {
    const context = fitCanvas(this.canvas);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    context.fillStyle = colours.background;
    context.fillRect(0, 0, width, height);
    const counts = this.densities(width);
    const most = counts.reduce((left, right) => Math.max(left, right), 1);
    context.fillStyle = colours.read;
    counts.forEach((count, x) => {
      const bar = Math.sqrt(count / most) * (height - 6);
      context.fillRect(x, height - bar, 1, bar);
    });
    for (const {step, role} of this.keySteps.steps) {
      context.fillStyle = colours[role];
      context.fillRect(this.x(step) - 1, 0, 2, height);
    }
    const left = this.x(Math.max(0, this.layout.first));
    const right = this.x(Math.min(this.timeline.steps, this.layout.last));
    context.globalAlpha = 0.16;
    context.fillStyle = colours.cursor;
    context.fillRect(left, 0, Math.max(3, right - left), height);
    context.globalAlpha = 1;
    context.fillRect(this.x(this.state.step) - 0.75, 0, 1.5, height);
  }
}
