import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, test } from 'vitest';
import { addressViolations, oneLine } from './mail-headers.ts';

type Given = Parameters<typeof addressViolations>[0];

const mail: Given = { channel: Channel.EMAIL, direction: Direction.IN, to: [], cc: [], bcc: [] };
const found = (given: Partial<Given>) =>
  addressViolations({ ...mail, ...given }).map(({ pointer, code }) => `${pointer} ${code}`);

describe('an address of an e-mail', () => {
  test.each([
    'kim@example.com',
    'k@e.de',
    "o'neil+tag@sub.example.co.uk",
    'jürgen@müller.example',
    '{weird}!#$%&*@example.com',
    `${'a'.repeat(64)}@example.com`,
  ])('may be %s', (from) => expect(found({ from })).toEqual([]));

  test.each([
    '',
    'kim',
    '@example.com',
    'kim@',
    'kim@localhost',
    'kim@.example.com',
    'kim@example..com',
    'kim@example.com.',
    'kim lee@example.com',
    'Kim <kim@example.com>',
    'kim@example.com, lee@example.com',
    'kim@example.com\r\nBcc: lee@example.com',
    'kim@lee@example.com',
    'kim@evil.example/bank.example',
    'kim@evil.example?x.bank.example',
    'kim@%65vil.example',
    'kim@evil.example#x.bank.example',
    `${'a'.repeat(65)}@example.com`,
  ])('may not be %j', (from) => expect(found({ from })).toEqual(['#/from invalid_format']));
});

test('every invalid address is reported with its pointer', () => {
  expect(found({ from: 'x', to: ['kim@example.com', 'y'], cc: ['z'] })).toEqual([
    '#/from invalid_format',
    '#/to/1 invalid_format',
    '#/cc/0 invalid_format',
  ]);
});

test.each([
  [Channel.EMAIL, true],
  [Channel.PORTAL, true],
  [Channel.PHONE, false],
  [Channel.LETTER, false],
  [Channel.SYSTEM, false],
  [Channel.CHAT, false],
  [Channel.WALK_IN, false],
])('channel %i requires e-mail addresses: %s', (channel, isRequired) => {
  expect(found({ channel, from: '+49 30 1', to: ['+49 30 2'] })).toHaveLength(isRequired ? 2 : 0);
});

test.each([
  [Channel.EMAIL, Direction.OUT, true],
  [Channel.EMAIL, Direction.IN, false],
  [Channel.EMAIL, Direction.INTERNAL, false],
  [Channel.PORTAL, Direction.OUT, false],
  [Channel.CHAT, Direction.OUT, false],
])('blind copies on channel %i in direction %i are allowed: %s', (channel, direction, allowed) => {
  expect(found({ channel, direction, bcc: ['kim@example.com'] })).toEqual(allowed ? [] : ['#/bcc not_allowed']);
});

test.each(['\r\n', '\n', '\r', '\0', '\t', '\x7f', '\x80', '\u0085', '\x9f', '\u2028', '\u2029', '\r\n \t\r\n  '])(
  'a line break or control character becomes a space: %j',
  (lineBreak) => {
    expect(oneLine(`a${lineBreak}b`)).toBe('a b');
  },
);

test('spaces and all other characters stay', () => {
  expect(oneLine(' a  b\u00a0ü😀 ')).toBe(' a  b\u00a0ü😀 ');
});
