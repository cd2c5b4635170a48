'use strict';
// The timeline in the form that the page uses: columns of numbers with look-up by step.

// The number of elements of a sorted array that are at most `value`.
function countUpTo(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
}

// Bars from one step to another, sorted by start. Each block stores its latest end, so that blocks
// that end before the picture begins are skipped as a whole.
class Bars {
  constructor(begins, ends) {
    this.begins = Int32Array.from(begins);
    this.ends = Int32Array.from(ends);
    this.blockEnds = [];
    for (let index = 0; index < this.ends.length; ++index) {
      const block = index >>> 8;
      this.blockEnds[block] = Math.max(this.blockEnds[block] ?? 0, this.ends[index]);
    }
  }

  forEachWithin(first, last, visit) {
    const end = countUpTo(this.begins, last);
    for (let block = 0; block << 8 < end; ++block) {
      if (this.blockEnds[block] < first) continue;
      for (let index = block << 8; index < Math.min(end, (block + 1) << 8); ++index) {
        if (this.ends[index] >= first) visit(index);
      }
    }
  }
}

// The changes of places (slots, regions), and the state of each place at a step.
class Changes {
  constructor(columns, places, count) {
    this.columns = columns;
    this.changes = Array.from({length: count}, () => []);
    this.steps = Array.from({length: count}, () => []);
    places.forEach((place, index) => {
      this.changes[place].push(index);
      this.steps[place].push(columns.step[index]);
    });
  }

  // The record that is valid at the step; -1: none yet.
  at(place, step) {
    const count = countUpTo(this.steps[place], step);
    return count === 0 ? -1 : this.changes[place][count - 1];
  }

  changedAt(place, step) {
    const index = this.at(place, step);
    return index >= 0 && this.columns.step[index] === step;
  }
}

class Timeline {
  constructor(data) {
    this.data = data;
    this.steps = data.steps;
    this.lanes = data.lanes;
    this.deviceLane = this.lanes.findIndex(lane => lane.kind === 'device');
    this.operations = data.operations;
    this.requests = data.requests;
    this.effects = data.effects;
    this.operationCount = this.operations.call.length;
    this.requestCount = this.requests.posted.length;
    this.effectCount = this.effects.step.length;
    this.operationBars =
        new Bars(this.operations.call, this.operations.return.map(step => step ?? data.steps));
    this.requestBars = new Bars(
        this.requests.posted,
        this.requests.completed.map((step, index) =>
            step === null ? data.steps : this.requests.last[index]));
    this.effectSteps = Int32Array.from(this.effects.step);
    this.effectsOfRequests = this.groupEffects();
    const {rows, changes} = data.words;
    this.wordRows = rows;
    this.words = new Changes(changes, changes.row, rows.name.length);
  }

  text(number) { return this.data.texts[number]; }

  groupEffects() {
    const groups = new Map();
    this.effects.request.forEach((request, effect) => {
      if (request === null) return;
      if (!groups.has(request)) groups.set(request, []);
      groups.get(request).push(effect);
    });
    return groups;
  }

  // [first, end) of the effects from one step to another.
  effectRange(first, last) {
    return [countUpTo(this.effectSteps, first - 1), countUpTo(this.effectSteps, last)];
  }

  timeNs(step) {
    const {clock} = this.data;
    const count = countUpTo(clock.step, step);
    const start = count === 0 ? {step: 0, time: 0}
                              : {step: clock.step[count - 1], time: clock.time_ns[count - 1]};
    return start.time + (step - start.step) * this.data.step_duration_ns;
  }

  // For example "set "key 0" to "0.1": stored". Quoted texts are truncated to `most` characters.
  describeOperation(index, most = Infinity) {
    const {text, answer} = this.operations;
    const answerText = this.text(answer[index]);
    const whole = `${this.text(text[index])}: ${answerText === '' ? 'no answer' : answerText}`;
    return whole.replace(/"((?:[^"\\]|\\.)*)"/g, (_, quoted) => `"${shorten(quoted, most)}"`);
  }

  // In few words, for example "set key 0 → stored".
  labelOperation(index, most) {
    const {kind, key, text, label} = this.operations;
    const keyText = this.text(key[index]);
    const call = keyText === '' ? this.text(text[index])
                                : `${this.text(kind[index])} ${shorten(keyText, most)}`;
    return `${call} → ${this.text(label[index])}`;
  }

  // What a row of words contains after the step; empty: unknown.
  wordAt(row, step) {
    const index = this.words.at(row, step);
    return {
      text: index < 0 ? '' : this.text(this.data.words.changes.text[index]),
      isChanged: this.words.changedAt(row, step),
    };
  }

  // All events of a step, as {who, text, kind}.
  eventsAt(step) {
    const events = [];
    const name = lane => lane === null ? 'fault' : this.lanes[lane].name;
    for (const mark of this.data.marks) {
      if (mark.step === step) events.push({who: name(mark.lane), text: mark.text, kind: mark.kind});
    }
    for (const standstill of this.data.standstills) {
      const what = standstill.host ? '' : 'a queue pair ';
      if (standstill.first === step) {
        events.push({who: name(standstill.lane), text: `${what}stalls`, kind: 'pause'});
      }
      if (standstill.last === step) {
        events.push({who: name(standstill.lane), text: `${what}resumes`, kind: 'pause'});
      }
    }
    const [first, end] = this.effectRange(step, step);
    for (let effect = first; effect < end; ++effect) {
      events.push({
        who: name(this.effects.lane[effect]),
        text: this.text(this.effects.text[effect]),
        kind: this.text(this.effects.kind[effect]),
      });
    }
    this.addRequestEvents(step, events);
    this.addOperationEvents(step, events);
    return events;
  }

  addRequestEvents(step, events) {
    const {lane, opcode, posted, completed, status} = this.requests;
    this.requestBars.forEachWithin(step, step, request => {
      const verb = this.text(opcode[request]);
      const what = verb.startsWith('SEND') ? verb : `${verb} of ${program.describeTarget(this, request)}`;
      const who = this.lanes[lane[request]].name;
      if (posted[request] === step) events.push({who, text: `posts ${what}`, kind: 'posted'});
      if (completed[request] === step) {
        events.push({who, text: `${what} completes: ${this.text(status[request])}`, kind: 'completed'});
      }
    });
  }

  addOperationEvents(step, events) {
    this.operationBars.forEachWithin(step, step, operation => {
      const who = this.lanes[this.operations.lane[operation]].name;
      if (this.operations.call[operation] === step) {
        events.push({who, text: `calls ${this.text(this.operations.text[operation])}`, kind: 'call'});
      }
      if (this.operations.return[operation] === step) {
        events.push({who, text: this.describeOperation(operation), kind: 'return'});
      }
    });
  }
}
