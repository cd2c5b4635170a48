'use strict';
// Formats texts and times for display.

function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

function describeTime(timeNs) {
  if (timeNs < 10_000) return `${timeNs} ns`;
  if (timeNs < 10_000_000) return `${(timeNs / 1_000).toFixed(1)} µs`;
  return `${(timeNs / 1_000_000).toFixed(3)} ms`;
}
