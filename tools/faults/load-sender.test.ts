import { expect, test } from 'vitest';
import { type LoadResponse, toOutcome } from './load-sender.ts';

const response = (status: number, code?: string): LoadResponse => ({ status, body: { code }, sentAt: 0 });

test.each<[string, LoadResponse]>([
  ['acknowledged', response(200)],
  ['acknowledged', response(201)],
  ['refused', response(400, 'no_recipient')],
  ['refused', response(409, 'message_was_sent')],
  ['refused', response(412, 'stale_version')],
  // The ticket may have been deleted after the message was added.
  ['unknown', response(404, 'ticket_not_found')],
  ['unknown', response(409, 'concurrent_change')],
  ['unknown', response(500)],
  ['refused', response(503, 'templates_unavailable')],
  ['unknown', response(503)],
  ['unknown', undefined],
])('a request is %s after %j', (outcome, given) => {
  expect(toOutcome(given)).toBe(outcome);
});
