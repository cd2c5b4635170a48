'use strict';
// Selects what is visible by key, by lane, and by kind of operation and request. Hiding an
// operation also hides its requests, and hiding a request hides its effects.

class Filters {
  constructor(timeline) {
    this.timeline = timeline;
    this.key = '';                 // '': all
    this.hiddenKinds = new Set();
    this.hiddenLanes = new Set();
    const {operations, requests} = timeline;
    this.operationKind = operations.kind.map(text => timeline.text(text));
    this.requestKind = requests.opcode.map(text => timeline.text(text));
    this.operationKey = operations.key.map(text => timeline.text(text));
    this.apply();
  }

  get operationKinds() { return program.operationKinds ?? [...new Set(this.operationKind)].sort(); }
  get requestKinds() { return program.requestKinds ?? [...new Set(this.requestKind)].sort(); }
  colourOfOperations(kind) {
    const index = this.operationKinds.indexOf(kind);
    return colourNames.includes(kind) ? kind : operationColours[index % operationColours.length];
  }
  get keys() { return [...new Set(this.operationKey)].sort(); }

  toggleKind(kind) { this.toggle(this.hiddenKinds, kind); }
  toggleLane(lane) { this.toggle(this.hiddenLanes, lane); }
  toggle(set, member) {
    if (!set.delete(member)) set.add(member);
    this.apply();
  }
  setKey(key) {
    this.key = key;
    this.apply();
  }

  apply() {
    const {operations, requests, effects} = this.timeline;
    this.operationShown = Uint8Array.from(operations.lane, (lane, index) =>
      !this.hiddenLanes.has(lane) && !this.hiddenKinds.has(this.operationKind[index]) &&
      (this.key === '' || this.operationKey[index] === this.key));
    this.requestShown = Uint8Array.from(requests.lane, (lane, index) => {
      if (this.hiddenLanes.has(lane) || this.hiddenKinds.has(this.requestKind[index])) return false;
      const operation = requests.operation[index];
      return operation === null ? this.key === '' : this.operationShown[operation];
    });
    this.effectShown = Uint8Array.from(effects.lane, (lane, index) => {
      const request = effects.request[index];
      return request === null ? !this.hiddenLanes.has(lane) && this.key === ''
                              : this.requestShown[request];
    });
    this.shownOperations = this.operationShown.reduce((sum, shown) => sum + shown, 0);
    this.shownRequests = this.requestShown.reduce((sum, shown) => sum + shown, 0);
  }
}
