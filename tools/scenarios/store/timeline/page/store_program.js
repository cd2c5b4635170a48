'use strict';
// The page of a run of the store.

let storeMemory = null;

Object.assign(program, {
  memoryMap: timeline => new StoreMap(storeMemory ??= new StoreMemory(timeline)),
  panels: timeline => [new StorePanel(storeMemory ??= new StoreMemory(timeline))],
  describeTarget: ({requests, data}, request) =>
      describePlace(requests.offset[request], requests.length[request], data.geometry),
  operationKinds: ['get', 'set', 'delete'],
  requestKinds: ['READ', 'WRITE', 'CAS', 'SEND'],
  legend: () => ({
      get: 'a GET, from call to return', set: 'a SET', delete: 'a DELETE', read: 'a READ, and the words that it reads',
      write: 'a WRITE', swap: 'a compare-and-swap; hollow and crossed: it did not match',
      processor: "the server's processor", 'slot-live': 'a slot with a live entry', 'slot-deleted': 'a deleted entry',
      'slot-locked': 'an entry that the cleaner has locked', granted: 'a region that a client writes',
      released: 'a region that is full', collecting: 'a region that is being collected',
      waiting: 'memory that waits until no client can access it', critical: 'the step from which on the violation is inevitable',
      origin: 'its origin', violation: 'the violation',
    }),
  marks: {
      [markSymbols.crashed]: 'a crash', [markSymbols.fence]: 'a client is fenced',
      [markSymbols.error]: 'a connection breaks', [markSymbols.closed]: 'a connection is closed',
      [markSymbols.started]: 'a host starts', '╱╱': 'a paused host or stalled queue pair', '┊': 'a fault begins',
    },
  help: 'Time runs from left to right in steps of the simulator. Each client has a lane. Its ' +
      'operations are bars from call to return; below them are its requests, from posting to ' +
      'completion. An arrow leads from a request to the device, where the request takes effect, ' +
      'and back. A stroke across the bar marks the completion if it precedes the last effect. ' +
      'The device\'s lane is the server\'s memory, with a line for each slot of the table and a ' +
      'band for each region and mature space. A torn transfer has one effect for each of its ' +
      'parts, at the words that the part affects.',
});
