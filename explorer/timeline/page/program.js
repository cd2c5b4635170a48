'use strict';
// What the page must know about the program whose run it shows. The program's own script, if it has
// one, replaces members.

const program = {
  // The lane of the memory (memory_map.js).
  memoryMap: timeline => new WordMap(timeline),
  // Panels with a function show(step).
  panels: timeline => [new WordPanel(timeline)],
  // The place that a request accesses.
  describeTarget: (timeline, request) => timeline.text(timeline.requests.target[request]),
  // The kinds of operations and requests; null: those of the run.
  operationKinds: null,
  requestKinds: null,
  // The meaning of colours and of symbols.
  legend: filters => ({
    ...Object.fromEntries(filters.operationKinds.map(
        kind => [filters.colourOfOperations(kind), `the operation "${kind}", from call to return`])),
    read: 'a READ, and the words that it reads', write: 'a WRITE',
    swap: 'an atomic; hollow and crossed: the word did not match',
    processor: 'a processor', 'slot-live': 'the contents of a word',
    critical: 'the step from which on the violation is inevitable',
    origin: 'its origin', violation: 'the violation',
  }),
  marks: {
    [markSymbols.crashed]: 'a crash', [markSymbols.error]: 'a connection breaks',
    [markSymbols.closed]: 'a connection is closed', [markSymbols.started]: 'a host starts',
    [markSymbols.note]: 'a note of the program', '╱╱': 'a paused host or stalled queue pair',
    '┊': 'a fault begins',
  },
  help: 'Time runs from left to right in steps of the simulator. Each host has a lane. Its ' +
      'operations are bars from call to return; below them are its requests, from posting to ' +
      'completion. An arrow leads from a request to the memory, where the request takes effect, ' +
      'and back. A stroke across the bar marks the completion if it precedes the last effect. ' +
      'The memory\'s lane has a row for each word that the run accesses, with its contents; if ' +
      'there are many words, a row shows several. The ticks at the bottom of a lane are the ' +
      'steps in which its fibers ran. A torn transfer has one effect for each of its parts, at ' +
      'the words that the part affects.',
};
