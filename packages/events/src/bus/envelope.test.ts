import { expect, test } from 'vitest';
import { eventMessage, receivedEvent } from './envelope.ts';

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const envelope = {
  id: 'evt_1',
  type: 'ticket.created',
  source: 'tickets',
  subject: '7',
  time: 1_700_000_000,
  traceparent,
};

test('an event is sent as CloudEvents 1.0 in binary mode', () => {
  const value = Buffer.from('content');
  expect(eventMessage('7', envelope, value)).toEqual({
    key: '7',
    value,
    headers: {
      ce_specversion: '1.0',
      ce_id: 'evt_1',
      ce_type: 'ticket.created',
      ce_source: 'tickets',
      ce_subject: '7',
      ce_time: '2023-11-14T22:13:20Z',
      'content-type': 'application/protobuf',
      traceparent,
    },
  });
});

test('an event is read as it was written, with a trace and without', () => {
  for (const trace of [traceparent, undefined]) {
    const message = eventMessage('7', { ...envelope, traceparent: trace }, Buffer.from('content'));
    expect(receivedEvent({ topic: 't', ...message })).toEqual({
      ...envelope,
      traceparent: trace,
      topic: 't',
      key: '7',
      value: message.value,
    });
  }
});

test('a message without the headers of an event is refused', () => {
  const { headers, ...message } = eventMessage('7', envelope, Buffer.from(''));
  const { ce_id: _, ...without } = headers;
  expect(() => receivedEvent({ topic: 't', ...message, headers: without })).toThrow('ce_id');
  expect(() => receivedEvent({ topic: 't', ...message, headers: { ...headers, ce_time: 'soon' } })).toThrow('soon');
});
