'use strict';
// Assembles the page and handles pointers, keys and links.

const firstPixelsPerStep = 6;   // for a run that holds, so that its arrows are initially visible

class App {
  constructor(data) {
    this.timeline = new Timeline(data);
    this.keySteps = new KeySteps(this.timeline);
    this.state = {step: 0, isFocused: this.keySteps.hasParts, pointed: null};
    this.layout = new Layout(this.timeline, program.memoryMap(this.timeline));
    this.filters = new Filters(this.timeline);
    this.element = name => document.getElementById(name);
    this.canvas = this.element('timeline');
    this.painter = new Painter(
        this.canvas, this.timeline, this.layout, this.filters, this.keySteps, this.state);
    this.overview = new Overview(
        this.element('overview'), this.timeline, this.layout, this.keySteps, this.state);
    this.hover = new Hover(this.element('hover'), this.timeline, this.painter, this.keySteps);
    this.panels = new Panels(this.timeline, this.keySteps);
    this.setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
    this.makeHeader();
    this.makeFilters();
    this.listen();
    this.resize();
    this.showFirst();
  }

  // ---- the beginning

  makeHeader() {
    const {title, description, violations} = this.timeline.data;
    document.title = `${title} – Falafel timeline`;
    this.element('title').textContent = title;
    this.element('description').textContent = description;
    this.element('description').title = `${description}; trace hash ${this.timeline.data.trace_hash}`;
    const verdict = this.element('verdict');
    verdict.textContent = violations.length > 0 ? 'violated' : 'holds';
    verdict.classList.toggle('violated', violations.length > 0);
    this.element('focus-label').hidden = !this.keySteps.hasParts;
    this.element('focus').checked = this.state.isFocused;
    this.element('scrubber').max = this.element('step').max = this.timeline.steps;
    for (const go of ['previous-key', 'next-key']) {
      document.querySelector(`[data-go="${go}"]`).hidden = !this.keySteps.any;
    }
    this.element('reading').textContent = program.help;
    this.makeLegend();
  }

  makeLegend() {
    const meanings = program.legend(this.filters);
    for (const [name, meaning] of Object.entries(meanings)) {
      const term = makeElement('dt');
      const sample = makeElement('i');
      sample.style.background = `var(--${name})`;
      term.append(sample);
      this.element('legend').append(term, makeElement('dd', '', meaning));
    }
    const marks = program.marks;
    for (const [symbol, meaning] of Object.entries(marks)) {
      this.element('legend').append(makeElement('dt', '', symbol), makeElement('dd', '', meaning));
    }
  }

  makeFilters() {
    const select = this.element('key-filter');
    select.closest('label').hidden = this.filters.keys.every(key => key === '');
    select.append(new Option('all', ''), ...this.filters.keys.map(key => new Option(key, key)));
    select.addEventListener('change', () => {
      this.filters.setKey(select.value);
      this.update();
    });
    const chip = (parent, name, colour, toggle) => {
      const button = makeElement('button');
      if (colour) button.append(makeElement('i')), button.firstChild.style.background = `var(--${colour})`;
      button.append(name);
      button.ariaPressed = 'true';
      button.addEventListener('click', () => {
        button.ariaPressed = String(button.ariaPressed !== 'true');
        toggle();
        this.update();
      });
      parent.append(button);
    };
    this.timeline.lanes.forEach((lane, index) => {
      chip(this.element('lane-filter'), lane.name, '', () => this.toggleLane(index));
    });
    const chipOf = (kind, colour) =>
        chip(this.element('kind-filter'), kind, colour, () => this.filters.toggleKind(kind));
    for (const kind of this.filters.operationKinds) chipOf(kind, this.filters.colourOfOperations(kind));
    for (const kind of this.filters.requestKinds) chipOf(kind, colourOfRequests(kind));
  }

  toggleLane(lane) {
    this.filters.toggleLane(lane);
    const {hiddenLanes} = this.layout;
    if (!hiddenLanes.delete(lane)) hiddenLanes.add(lane);
    this.layout.place();
    this.layout.clamp();
  }

  // The step in the link; otherwise the violation with its key steps; otherwise the beginning.
  showFirst() {
    const {steps} = this.keySteps;
    if (steps.length > 0) {
      const first = steps[0].step;
      const last = steps[steps.length - 1].step;
      const margin = Math.max(4, 0.06 * (last - first), 25 - (last - first));
      this.layout.show(first - margin, last + margin);
    } else {
      const most = this.layout.plotWidth / firstPixelsPerStep;
      this.layout.show(-2, Math.min(this.timeline.steps + 4, most - 2));
    }
    const violation = steps.find(({role}) => role === 'violation');
    this.goTo(this.stepOfLink() ?? violation?.step ?? 0);
  }

  stepOfLink() {
    const found = /^#step=(\d+)$/.exec(location.hash);
    return found ? Number(found[1]) : null;
  }

  // ---- what is shown

  goTo(step) {
    const {state, timeline} = this;
    state.step = Math.max(0, Math.min(timeline.steps, Math.round(step)));
    this.layout.reveal(state.step);
    this.element('step').value = this.element('scrubber').value = state.step;
    this.element('time').textContent = describeTime(timeline.timeNs(state.step));
    this.element('link').href = `#step=${state.step}`;
    this.panels.show(state.step);
    clearTimeout(this.linkTimer);   // browsers limit how often the address may change
    this.linkTimer = setTimeout(() => history.replaceState(null, '', `#step=${state.step}`), 250);
    this.update();
  }

  update() {
    const {shownOperations, shownRequests} = this.filters;
    const {operationCount, requestCount} = this.timeline;
    this.element('shown').textContent = `${shownOperations}/${operationCount} operations, ` +
        `${shownRequests}/${requestCount} requests`;
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  draw() {
    this.painter.draw();
    this.painter.drawScrollBar();
    this.overview.draw(this.painter.colours);
  }

  // The picture in its present or another size, with all lanes.
  toSvg(width = this.canvas.clientWidth, leastHeight = this.canvas.clientHeight) {
    this.layout.resize(width, leastHeight);
    const height = Math.max(leastHeight, Math.ceil(this.layout.contentHeight));
    this.layout.resize(width, height);
    const context = new SvgContext(width, height);
    this.painter.draw(context);
    this.resize();
    return context.toString();
  }

  saveSvg() {
    const link = makeElement('a');
    link.href = URL.createObjectURL(new Blob([this.toSvg()], {type: 'image/svg+xml'}));
    link.download = 'trace.svg';
    link.click();
    URL.revokeObjectURL(link.href);
  }

  resize() {
    this.layout.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    this.update();
  }

  setTheme(isDark) {
    document.documentElement.classList.toggle('dark', isDark);
    this.painter.refreshColours();
    this.update();
  }

  setFocus(isFocused) {
    this.state.isFocused = isFocused && this.keySteps.hasParts;
    this.element('focus').checked = this.state.isFocused;
    this.update();
  }

  zoom(factor, x = this.layout.x(this.state.step)) {
    const isInView = x >= gutterWidth && x <= this.layout.width;
    this.layout.zoom(factor, isInView ? x : gutterWidth + this.layout.plotWidth / 2);
    this.update();
  }

  scroll(pixels) {
    this.layout.scroll(pixels);
    this.update();
  }

  fit() {
    this.layout.show(-0.01 * this.timeline.steps - 2, 1.01 * this.timeline.steps + 2);
    this.update();
  }

  // ---- where steps lead

  goToKey(direction) {
    const steps = this.keySteps.steps.map(({step}) => step);
    const found = direction > 0 ? steps.find(step => step > this.state.step)
                                : steps.findLast(step => step < this.state.step);
    if (found !== undefined) this.goTo(found);
  }

  goToEvent(direction) {
    const {effectSteps} = this.timeline;
    const index = direction > 0 ? countUpTo(effectSteps, this.state.step)
                                : countUpTo(effectSteps, this.state.step - 1) - 1;
    if (index >= 0 && index < effectSteps.length) this.goTo(effectSteps[index]);
  }

  go(where) {
    const ways = {
      first: () => this.goTo(0),
      last: () => this.goTo(this.timeline.steps),
      previous: () => this.goTo(this.state.step - 1),
      next: () => this.goTo(this.state.step + 1),
      'previous-key': () => this.goToKey(-1),
      'next-key': () => this.goToKey(1),
    };
    ways[where]();
  }

  // ---- pointers and keys

  listen() {
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    addEventListener('hashchange', () => {
      const step = this.stepOfLink();
      if (step !== null && step !== this.state.step) this.goTo(step);
    });
    for (const button of document.querySelectorAll('[data-go]')) {
      button.addEventListener('click', () => this.go(button.dataset.go));
    }
    const on = (name, event, action) => this.element(name).addEventListener(event, action);
    on('step', 'change', event => this.goTo(Number(event.target.value)));
    on('scrubber', 'input', event => this.goTo(Number(event.target.value)));
    on('zoom-in', 'click', () => this.zoom(1.5));
    on('zoom-out', 'click', () => this.zoom(1 / 1.5));
    on('fit', 'click', () => this.fit());
    on('save', 'click', () => this.saveSvg());
    on('focus', 'change', event => this.setFocus(event.target.checked));
    on('theme-button', 'click', () => this.toggleTheme());
    on('help-button', 'click', () => this.element('help').showModal());
    on('overview', 'pointerdown', event => this.moveTo(this.overview.step(event.offsetX)));
    on('overview', 'pointermove', event => {
      if (event.buttons === 1) this.moveTo(this.overview.step(event.offsetX));
    });
    on('key-steps', 'click', event => {
      const item = event.target.closest('li');
      if (item) this.goTo(Number(item.dataset.step));
    });
    addEventListener('keydown', event => this.onKey(event));
    this.listenToCanvas();
  }

  listenToCanvas() {
    const {canvas} = this;
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.layout.pan(-(event.deltaX || event.deltaY));
        this.update();
      } else {
        this.zoom(Math.exp(-event.deltaY * 0.0018), event.offsetX);
      }
    }, {passive: false});
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = {x: event.offsetX, y: event.offsetY, moved: 0};
      canvas.classList.add('dragging');
    });
    canvas.addEventListener('pointermove', event => this.onMove(event));
    canvas.addEventListener('pointerup', event => this.onUp(event));
    canvas.addEventListener('pointerleave', () => this.point(null, 0, 0));
  }

  onMove(event) {
    if (!this.drag) {
      this.point(this.hover.find(event.offsetX, event.offsetY), event.offsetX,
                 event.offsetY + this.canvas.offsetTop);
      return;
    }
    const {drag, layout} = this;
    layout.pan(event.offsetX - drag.x);
    layout.scroll(drag.y - event.offsetY);
    drag.moved += Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y);
    drag.x = event.offsetX;
    drag.y = event.offsetY;
    this.update();
  }

  // A click selects the step of the item there, or else the step at that position.
  onUp(event) {
    const wasClick = this.drag !== null && this.drag.moved < 4;
    this.drag = null;
    this.canvas.classList.remove('dragging');
    if (!wasClick) return;
    const thing = this.hover.find(event.offsetX, event.offsetY);
    if (thing?.kind === 'effect') this.goTo(this.timeline.effects.step[thing.index]);
    else if (thing?.kind === 'key') this.goTo(this.keySteps.steps[thing.index].step);
    else if (event.offsetX > gutterWidth) this.goTo(this.layout.step(event.offsetX));
  }

  point(thing, x, y) {
    const before = this.state.pointed;
    this.state.pointed = thing;
    this.hover.show(thing, x, y);
    if (before?.kind !== thing?.kind || before?.index !== thing?.index) this.update();
  }

  moveTo(step) {
    this.layout.first = step - this.layout.plotWidth / this.layout.pixelsPerStep / 2;
    this.layout.clamp();
    this.update();
  }

  toggleTheme() { this.setTheme(!document.documentElement.classList.contains('dark')); }

  onKey(event) {
    const isTyping = event.target.matches('input[type="number"], select') || this.element('help').open;
    if (isTyping || event.altKey || event.metaKey) return;
    const far = event.shiftKey ? 10 : 1;
    const keys = {
      ArrowLeft: () => event.ctrlKey ? this.goToEvent(-1) : this.goTo(this.state.step - far),
      ArrowRight: () => event.ctrlKey ? this.goToEvent(1) : this.goTo(this.state.step + far),
      ArrowUp: () => this.scroll(-40),
      ArrowDown: () => this.scroll(40),
      Home: () => this.go('first'),
      End: () => this.go('last'),
      n: () => this.goToKey(1),
      p: () => this.goToKey(-1),
      f: () => this.setFocus(!this.state.isFocused),
      t: () => this.toggleTheme(),
      '+': () => this.zoom(1.5),
      '=': () => this.zoom(1.5),
      '-': () => this.zoom(1 / 1.5),
      0: () => this.fit(),
      '?': () => this.element('help').showModal(),
    };
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

const app = new App(JSON.parse(document.getElementById('data').textContent));
