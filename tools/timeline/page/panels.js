'use strict';
// The panels next to the picture: key steps, the events of the step, and the table and the regions
// after it. All content is inserted as text, never as markup.

const mostRowsShown = 96;

// The steps that led to the violation, and the items involved.
class KeySteps {
  constructor(timeline) {
    this.steps = timeline.data.key_steps;
    const all = name => this.steps.map(keyStep => keyStep[name]).filter(index => index !== null);
    this.operations = new Set(all('operation'));
    this.effects = new Set(all('effect'));
    this.requests = new Set([...this.effects].map(effect => timeline.effects.request[effect]));
    this.staleEffects =
        this.steps.filter(({role, effect}) => role === 'stale' && effect !== null).map(({effect}) => effect);
    for (const effect of this.staleEffects) {
      for (const source of timeline.effects.sources[effect]) this.effects.add(source);
    }
    this.violating = new Set(
        this.steps.filter(({role}) => role === 'violation').map(({operation}) => operation));
  }

  get any() { return this.steps.length > 0; }
  get hasParts() { return this.operations.size + this.effects.size > 0; }
  hasOperation(index) { return this.operations.has(index); }
  hasRequest(index) { return this.requests.has(index); }
  hasEffect(index) { return this.effects.has(index); }
  isViolating(kind, index) { return kind === 'operation' && this.violating.has(index); }
}

function makeElement(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function firstLine(text) { return text.split('\n', 1)[0]; }

class Panels {
  constructor(timeline, keySteps) {
    this.timeline = timeline;
    this.keySteps = keySteps;
    this.element = name => document.getElementById(name);
    this.makeKeySteps();
    this.makeViolation();
  }

  makeViolation() {
    const {violations} = this.timeline.data;
    this.element('violation-section').hidden = violations.length === 0;
    this.element('summary').textContent = firstLine(violations[0]?.explanation ?? '');
    this.element('explanation').textContent =
        violations.map(({property, explanation}) => `${property}: ${explanation}`).join('\n\n');
  }

  makeKeySteps() {
    const items = this.keySteps.steps.map((keyStep, index) => {
      const item = makeElement('li', keyStep.role);
      const number = makeElement('span', 'number', String(index + 1));
      number.style.background = `var(--${keyStep.role})`;
      const link = makeElement('a', '', String(keyStep.step));
      link.href = `#step=${keyStep.step}`;
      const text = makeElement('span', 'text');
      if (keyStep.lane !== null) {
        text.append(makeElement('span', 'who', this.timeline.lanes[keyStep.lane].name));
      }
      text.append(keyStep.text);
      item.append(number, link, text);
      item.dataset.step = keyStep.step;
      return item;
    });
    this.element('key-steps').replaceChildren(...items);
  }

  show(step) {
    this.showKeyStep(step);
    this.showEvents(step);
    this.showTable(step);
    this.showRegions(step);
  }

  showKeyStep(step) {
    const list = this.element('key-steps');
    const current = [...list.children].filter(item => Number(item.dataset.step) === step);
    for (const item of list.querySelectorAll('.current')) item.classList.remove('current');
    for (const item of current) item.classList.add('current');
    if (current.length === 0) return;
    const last = current[current.length - 1];
    const least = last.offsetTop + last.offsetHeight - list.clientHeight;
    list.scrollTop = Math.min(current[0].offsetTop, Math.max(list.scrollTop, least));
  }

  showEvents(step) {
    this.element('event-step').textContent = step;
    const events = this.timeline.eventsAt(step);
    const items = events.map(({who, text, kind}) => {
      const item = makeElement('li', kind === 'posted' || kind === 'completed' ? 'quiet' : '');
      item.append(makeElement('span', 'who', who), text);
      return item;
    });
    if (items.length === 0) items.push(makeElement('li', 'quiet', 'nothing that reaches the memory'));
    this.element('events').replaceChildren(...items);
  }

  // All slots of a small table; for a large one, as many used slots as are readable.
  showTable(step) {
    const {table_entries: count} = this.timeline.geometry;
    const rows = [];
    let omitted = 0;
    for (let slot = 0; slot < count; ++slot) {
      if (count > mostRowsShown) {
        const isUnused = this.timeline.slots.at(slot, step) < 0;
        if (isUnused || rows.length >= mostRowsShown) {
          ++omitted;
          continue;
        }
      }
      rows.push(this.makeSlotRow(slot, this.timeline.slotAt(slot, step), step));
    }
    this.element('table').tBodies[0].replaceChildren(...rows);
    this.element('table-rest').textContent =
        omitted === 0 ? '' : `${omitted.toLocaleString('en')} more slots are not shown`;
  }

  makeSlotRow(slot, {word, entry, key, value, isReadable, isChanged}, step) {
    const row = makeElement('tr');
    const isDangling = this.timeline.isDangling(entry, step);
    row.classList.toggle('empty', entry.isEmpty);
    row.classList.toggle('changed', isChanged);
    row.classList.toggle('deleted', entry.isDeleted);
    row.classList.toggle('dangling', isDangling);
    Object.assign(row.dataset, {slot, word, key});
    row.title = `${word}: ${describeEntry(entry)}`;
    const flags = makeElement('td');
    const flag = name => flags.append(makeElement('span', `flag ${name}`, name));
    if (entry.isLocked) flag('locked');
    if (entry.isDeleted && !entry.isEmpty) flag('deleted');
    if (isDangling) flag('dangling');
    else if (!entry.isEmpty && !isReadable) flag('unreadable');
    const keyCell = makeElement('td', 'key', key);
    const valueCell = makeElement('td', 'value', value);
    keyCell.title = key;
    valueCell.title = value;
    row.append(makeElement('td', '', String(slot)),
               makeElement('td', '', entry.isEmpty ? '–' : String(entry.offset)),
               makeElement('td', '', String(entry.tag)), flags, keyCell, valueCell);
    return row;
  }

  showRegions(step) {
    const {geometry} = this.timeline;
    const rows = [];
    for (let region = 0; region < Math.min(geometry.region_count, mostRowsShown); ++region) {
      const use = this.timeline.regionAt(region, step);
      rows.push(this.makeRegionRow(`region ${region}`, use, use.written, geometry.region_bytes));
    }
    for (let space = 0; space < 2; ++space) {
      const use = this.timeline.spaceAt(space, step);
      rows.push(this.makeRegionRow(`mature ${space}`, use, use.used, geometry.mature_bytes));
    }
    this.element('regions').tBodies[0].replaceChildren(...rows);
  }

  makeRegionRow(name, {state, owner, live, isChanged}, used, size) {
    const row = makeElement('tr', isChanged ? 'changed' : '');
    const states = makeElement('td');
    states.append(makeElement('span', `state ${state}`, state));
    const bar = makeElement('td', 'bar');
    const bytes = makeElement('div', 'bytes');
    const garbage = Math.max(0, used - live);
    for (const [kind, count] of [['live', live], ['garbage', garbage]]) {
      const part = makeElement('div', kind);
      part.style.width = `${100 * count / size}%`;
      bytes.append(part);
    }
    bytes.title = `${live} bytes live, ${garbage} garbage, ${Math.max(0, size - used)} free`;
    bar.append(bytes);
    row.dataset.name = name;
    row.append(makeElement('td', '', name), states, makeElement('td', 'owner', owner ?? ''), bar);
    return row;
  }
}
