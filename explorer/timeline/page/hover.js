'use strict';
// Finds the item under the pointer and describes it.

class Hover {
  constructor(element, timeline, painter, keySteps) {
    Object.assign(this, {element, timeline, painter, keySteps});
  }

  // The topmost item at a point, which was drawn last.
  find(x, y) {
    const {drawn} = this.painter;
    for (let index = drawn.length - 1; index >= 0; --index) {
      const thing = drawn[index];
      if (x >= thing.x - 1 && x <= thing.x + thing.width + 1 && y >= thing.y && y <= thing.y + thing.height) {
        return thing;
      }
    }
    return null;
  }

  show(thing, x, y) {
    const {element} = this;
    element.hidden = thing === null;
    if (thing === null) return;
    const [title, ...lines] = this.describe(thing);
    const bold = document.createElement('b');
    bold.textContent = title;
    element.replaceChildren(bold, ...lines.map(line => {
      const div = document.createElement('div');
      div.textContent = line;
      return div;
    }));
    const {clientWidth, clientHeight} = element.parentElement;
    element.style.left = `${Math.max(0, Math.min(x + 14, clientWidth - element.offsetWidth - 4))}px`;
    const top = y + 18 + element.offsetHeight > clientHeight ? y - element.offsetHeight - 10 : y + 18;
    element.style.top = `${Math.max(0, top)}px`;
  }

  describe(thing) {
    switch (thing.kind) {
      case 'operation': return this.describeOperation(thing.index);
      case 'request': return this.describeRequest(thing.index);
      case 'effect': return this.describeEffect(thing.index);
      case 'key': return this.describeKeyStep(thing.index);
      default: return [thing.text];
    }
  }

  describeOperation(index) {
    const {operations, lanes} = this.timeline;
    const end = operations.return[index];
    return [
      this.timeline.describeOperation(index),
      `${lanes[operations.lane[index]].name}, steps ${operations.call[index]} to ${end ?? '…'}`,
    ];
  }

  describeRequest(index) {
    const {requests, lanes} = this.timeline;
    const verb = this.timeline.text(requests.opcode[index]);
    const place = verb.startsWith('SEND') ? 'a message' : program.describeTarget(this.timeline, index);
    const lines = [
      `${verb}: ${place}`,
      `${lanes[requests.lane[index]].name}, posted at step ${requests.posted[index]}`,
    ];
    const detail = this.timeline.text(requests.detail[index]);
    if (detail !== '') lines.push(...detail.split('\n'));
    for (const effect of (this.timeline.effectsOfRequests.get(index) ?? []).slice(0, 8)) {
      lines.push(`step ${this.timeline.effects.step[effect]}: ${this.timeline.text(this.timeline.effects.text[effect])}`);
    }
    const completed = requests.completed[index];
    lines.push(completed === null ? 'does not complete'
                                  : `completes at step ${completed}: ${this.timeline.text(requests.status[index])}`);
    if (requests.operation[index] !== null) {
      lines.push(`of ${this.timeline.describeOperation(requests.operation[index])}`);
    }
    return lines;
  }

  describeEffect(index) {
    const {effects, lanes} = this.timeline;
    const lines = [
      `step ${effects.step[index]}: ${lanes[effects.lane[index]].name}`,
      this.timeline.text(effects.text[index]),
    ];
    const request = effects.request[index];
    if (request !== null && this.timeline.requests.operation[request] !== null) {
      lines.push(`for ${this.timeline.describeOperation(this.timeline.requests.operation[request])}`);
    }
    for (const source of effects.sources[index]) {
      lines.push(`written at step ${effects.step[source]} by ${lanes[effects.lane[source]].name}`);
    }
    return lines;
  }

  describeKeyStep(index) {
    const {step, lane, text} = this.keySteps.steps[index];
    const who = lane === null ? '' : `${this.timeline.lanes[lane].name}: `;
    return [`${index + 1}. step ${step}`, who + text];
  }
}
