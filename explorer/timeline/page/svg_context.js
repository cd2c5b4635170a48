'use strict';
// Converts the painter's drawing to SVG. Implements the part of CanvasRenderingContext2D that the
// painter uses.

class SvgContext {
  constructor(width, height) {
    Object.assign(this, {
      width, height, fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '',
      textAlign: 'left', textBaseline: 'middle', dash: [], clipPath: '', saved: [], path: '',
      elements: [], clipPaths: [],
    });
    this.ruler = document.createElement('canvas').getContext('2d');   // measures texts
  }

  // ---- state

  save() {
    const {fillStyle, strokeStyle, lineWidth, globalAlpha, font, clipPath, dash} = this;
    this.saved.push({fillStyle, strokeStyle, lineWidth, globalAlpha, font, clipPath, dash});
  }
  restore() { Object.assign(this, this.saved.pop()); }
  setLineDash(dash) { this.dash = dash; }

  // ---- paths

  beginPath() { this.path = ''; }
  moveTo(x, y) { this.path += `M${this.round(x)} ${this.round(y)}`; }
  lineTo(x, y) { this.path += `L${this.round(x)} ${this.round(y)}`; }
  bezierCurveTo(...points) { this.path += `C${points.map(point => this.round(point)).join(' ')}`; }
  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.path += `h${this.round(width)}v${this.round(height)}h${this.round(-width)}z`;
  }
  roundRect(x, y, width, height, radius) {
    const [w, h, r] = [width - 2 * radius, height - 2 * radius, radius].map(size => this.round(size));
    const corner = (dx, dy) => `a${r} ${r} 0 0 1 ${this.round(dx)} ${this.round(dy)}`;
    this.moveTo(x + radius, y);
    this.path += `h${w}${corner(r, r)}v${h}${corner(-r, r)}h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}z`;
  }
  // Full circles only.
  arc(x, y, radius) {
    const r = this.round(radius);
    this.moveTo(x - radius, y);
    this.path += `a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }

  clip() {
    this.clipPath = ` clip-path="url(#clip${this.clipPaths.length})"`;
    this.clipPaths.push(`<clipPath id="clip${this.clipPaths.length}"><path d="${this.path}"/></clipPath>`);
  }

  // ---- what is drawn

  fill() { this.add('path', `d="${this.path}" ${this.paint()}`); }
  stroke() { if (this.path) this.add('path', `d="${this.path}" ${this.line()}`); }
  fillRect(x, y, width, height) { this.add('rect', `${this.box(x, y, width, height)} ${this.paint()}`); }
  strokeRect(x, y, width, height) { this.add('rect', `${this.box(x, y, width, height)} ${this.line()}`); }

  fillText(text, x, y) {
    const [, weight, size] = /^(?:(\d+) )?(?:\d+ )?([\d.]+)px/.exec(this.font) ?? [null, '', '12'];
    const anchor = {left: 'start', center: 'middle', right: 'end'}[this.textAlign];
    const bold = weight ? ` font-weight="${weight}"` : '';
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    this.elements.push(`<text x="${this.round(x)}" y="${this.round(y + 0.35 * Number(size))}" ` +
        `font-size="${size}" text-anchor="${anchor}"${bold} ${this.paint()}${this.clipPath}>${escaped}</text>`);
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  // ---- how

  round(number) { return Math.round(number * 10) / 10; }
  box(x, y, width, height) {
    return `x="${this.round(x)}" y="${this.round(y)}" width="${this.round(width)}" height="${this.round(height)}"`;
  }
  opacity() { return this.globalAlpha === 1 ? '' : ` opacity="${this.globalAlpha}"`; }
  paint() { return `fill="${this.fillStyle}"${this.opacity()}`; }
  line() {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(' ')}"` : '';
    return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}${this.opacity()}`;
  }
  add(name, attributes) { this.elements.push(`<${name} ${attributes}${this.clipPath}/>`); }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" ` +
        `width="${this.width}" height="${this.height}" font-family="DejaVu Sans, sans-serif">\n` +
        `<defs>${this.clipPaths.join('')}</defs>\n${this.elements.join('\n')}\n</svg>\n`;
  }
}
