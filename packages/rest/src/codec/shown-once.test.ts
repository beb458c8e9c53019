import { create, type DescMessage, equals, type Message } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { probeMessage } from '../../test/probe-contract.ts';
import { withoutShownOnce } from './shown-once.ts';

const shownOnce = { '[ticketing.api.v1.json]': { shownOnce: true } };
const secret = { name: 'secret', type: 'TYPE_STRING', proto3Optional: true, oneofIndex: 0, options: shownOnce };
const child = { name: 'child', type: 'TYPE_MESSAGE', typeName: '.probe.Probe' };
const children = { name: 'children', type: 'TYPE_MESSAGE', typeName: '.probe.Probe', label: 'LABEL_REPEATED' };
const name = { name: 'name', type: 'TYPE_STRING' };

const made = (desc: DescMessage, fields: object): Message => Object.assign(create(desc), fields);

test('clears a field that is shown once at any depth, in a copy, and nothing else', () => {
  const probe = probeMessage([name, children, child, secret], ['_secret']);
  const inner = made(probe, { name: 'inner', secret: 'c' });
  const response = made(probe, {
    name: 'outer',
    secret: 'a',
    children: [made(probe, { secret: 'b', child: inner }), made(probe, { name: 'none' })],
  });
  const stored = withoutShownOnce(probe, response);
  const expected = made(probe, {
    name: 'outer',
    children: [made(probe, { child: made(probe, { name: 'inner' }) }), made(probe, { name: 'none' })],
  });
  expect(equals(probe, stored, expected)).toBe(true);
  expect(inner).toMatchObject({ secret: 'c' });
  expect(response).toMatchObject({ secret: 'a' });
});

test('returns a response without such fields itself', () => {
  const probe = probeMessage([name, children]);
  const response = made(probe, { children: [made(probe, { name: 'a' })] });
  expect(withoutShownOnce(probe, response)).toBe(response);
});

test('refuses a contract in which such a field cannot be unset', () => {
  const probe = probeMessage([{ name: 'secret', type: 'TYPE_STRING', options: shownOnce }]);
  expect(() => withoutShownOnce(probe, create(probe))).toThrow('probe.Probe.secret is shown once');
});
