import { expect, test } from 'vitest';
import { chooseAccepted } from './media-types.ts';

const json = { mediaTypes: ['application/json'] };
const events = { mediaTypes: ['text/event-stream'] };

test.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['application/json', json],
  ['text/html', json],
  ['text/event-stream', events],
  ['TEXT/Event-Stream; charset=utf-8', json],
  ['text/event-stream;q=0', json],
  ['text/*', events],
  ['text/event-stream, */*', events],
  ['application/json;q=0.9, text/event-stream', events],
  ['application/json, text/event-stream;q=0.9', json],
  ['text/event-stream, application/json', events],
  ['application/json, text/event-stream', json],
  [',;=,q=x', json],
])('Accept: %s', (accept, expected) => {
  expect(chooseAccepted([json, events], accept)).toBe(expected);
});
