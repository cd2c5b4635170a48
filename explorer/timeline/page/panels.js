'use strict';
// The panels next to the picture: key steps, the events of the step, and the memory after it. All
// content is inserted as text, never as markup.

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
    this.ofProgram = program.panels(timeline);
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
    for (const panel of this.ofProgram) panel.show(step);
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
}

// The contents of memory after the step, row by row.
class WordPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.rows = makeSection('Memory', 'words', ['word', 'content']);
  }

  show(step) {
    const {timeline} = this;
    const rows = timeline.wordRows.name.slice(0, mostRowsShown).map((name, row) => {
      const {text, isChanged} = timeline.wordAt(row, step);
      const line = makeElement('tr', isChanged ? 'changed' : '');
      line.append(makeElement('td', '', timeline.text(name)), makeElement('td', 'value', text));
      return line;
    });
    this.rows.replaceChildren(...rows);
  }
}

// Appends a section with a table to the panels, and returns the body of the table.
function makeSection(title, id, columns) {
  const section = makeElement('section');
  const table = makeElement('table');
  table.id = id;
  if (columns.length > 0) {
    const head = table.createTHead().insertRow();
    for (const column of columns) head.append(makeElement('th', '', column));
  }
  section.append(makeElement('h2', '', title), table);
  document.querySelector('aside').append(section);
  return table.createTBody();
}
