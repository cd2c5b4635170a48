'use strict';
// The panels of the store: the table and the regions after the step.

class StorePanel {
  constructor(memory) {
    this.memory = memory;
    this.slots = makeSection('Table', 'table', ['slot', 'offset', 'tag', '', 'key', 'value']);
    this.rest = makeElement('p');
    this.rest.id = 'table-rest';
    this.slots.closest('section').append(this.rest);
    this.regions = makeSection('Regions ', 'regions', []);
    const legend = makeElement('span', 'legend');
    for (const kind of ['live', 'garbage', 'free']) legend.append(makeElement('i', kind), `${kind} `);
    this.regions.closest('section').querySelector('h2').append(legend);
  }

  show(step) {
    this.showTable(step);
    this.showRegions(step);
  }

  // All slots of a small table; for a large one, as many used slots as are readable.
  showTable(step) {
    const {slot_count: count} = this.memory.geometry;
    const rows = [];
    let omitted = 0;
    for (let slot = 0; slot < count; ++slot) {
      if (count > mostRowsShown) {
        const isUnused = this.memory.slots.at(slot, step) < 0;
        if (isUnused || rows.length >= mostRowsShown) {
          ++omitted;
          continue;
        }
      }
      rows.push(this.makeSlotRow(slot, this.memory.slotAt(slot, step), step));
    }
    this.slots.replaceChildren(...rows);
    this.rest.textContent =
        omitted === 0 ? '' : `${omitted.toLocaleString('en')} more slots are not shown`;
  }

  makeSlotRow(slot, {word, entry, key, value, isReadable, isChanged}, step) {
    const row = makeElement('tr');
    const isDangling = this.memory.isDangling(entry, step);
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
    const {geometry} = this.memory;
    const rows = [];
    for (let region = 0; region < Math.min(geometry.region_count, mostRowsShown); ++region) {
      const use = this.memory.regionAt(region, step);
      rows.push(this.makeRegionRow(`region ${region}`, use, use.written, geometry.region_bytes));
    }
    const spaces = Math.min(geometry.mature_offsets.length, mostRowsShown);
    for (let space = 0; space < spaces; ++space) {
      const use = this.memory.spaceAt(space, step);
      rows.push(this.makeRegionRow(`mature ${space}`, use, use.used, geometry.mature_bytes));
    }
    this.regions.replaceChildren(...rows);
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
