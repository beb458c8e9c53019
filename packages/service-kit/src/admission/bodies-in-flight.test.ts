import { expect, test } from 'vitest';
import { bodiesInFlight } from './bodies-in-flight.ts';

const MiB = 1024 * 1024;
const free = 64 * 1024;
const refusal = expect.objectContaining({ code: 'unavailable', reason: 'bodies_in_flight', retryAfterSeconds: 1 });

// guarantee: B1
test('a caller may hold half of what the process may', () => {
  const bodies = bodiesInFlight(10 * MiB);
  const body = bodies.hold('user 1');
  body.add(free);
  body.add(5 * MiB);
  expect(() => body.add(1)).toThrowError(refusal);
  expect(() => bodies.hold('user 1').add(free + 1)).toThrowError(refusal);
  const other = bodies.hold('user 2');
  other.add(free);
  expect(() => other.add(5 * MiB)).not.toThrow();
});

test('callers together may hold what the process may, and not one byte more', () => {
  const bodies = bodiesInFlight(10 * MiB);
  for (const caller of ['1', '2', '3']) {
    const body = bodies.hold(caller);
    body.add(free);
    body.add(3 * MiB);
  }
  const last = bodies.hold('4');
  last.add(free);
  last.add(MiB);
  expect(() => last.add(1)).toThrowError(refusal);
});

test('a body that is released gives all its bytes back, once', () => {
  const bodies = bodiesInFlight(2 * MiB);
  for (let count = 0; count < 3; count++) {
    const body = bodies.hold('1');
    body.add(free);
    body.add(MiB / 2);
    body.add(MiB / 2);
    expect(() => body.add(1)).toThrowError(refusal);
    body.release();
    body.release();
  }
});

test('small bodies are not counted', () => {
  const bodies = bodiesInFlight(MiB);
  for (let count = 0; count < 100; count++) expect(() => bodies.hold('1').add(free)).not.toThrow();
});

test('a body that is released takes nothing any more, even if its bytes are still being decompressed', () => {
  const bodies = bodiesInFlight(2 * MiB);
  const body = bodies.hold('1');
  body.add(free);
  body.release();
  expect(() => body.add(MiB)).toThrowError(expect.objectContaining({ code: 'canceled' }));
  const other = bodies.hold('1');
  other.add(free);
  expect(() => other.add(MiB)).not.toThrow();
});

// guarantee: H8
test('of bodies with a file of 20 MiB, two are held at once, whoever sends them', () => {
  const bodies = bodiesInFlight(160 * MiB);
  const fileInJson = 27 * MiB;
  const [first, second, third] = ['1', '2', '3'].map((caller) => bodies.hold(caller));
  first?.add(fileInJson);
  second?.add(fileInJson);
  third?.add(10 * MiB);
  expect(() => third?.add(MiB)).toThrowError(refusal);
  third?.release();
  first?.release();
  expect(() => bodies.hold('4').add(fileInJson)).not.toThrow();
});

// guarantee: H8
test('of large bodies that grow at the same pace, those that would not fit are refused early', () => {
  const bodies = bodiesInFlight(160 * MiB);
  const held = Array.from({ length: 8 }, (_, caller) => bodies.hold(String(caller), 27 * MiB));
  for (const body of held) body.add(MiB - 1);
  const admitted = held.filter((body) => {
    try {
      body.add(1);
      return true;
    } catch {
      body.release();
      return false;
    }
  });
  expect(admitted).toEqual(held.slice(0, 2));
  for (const body of admitted) expect(() => body.add(26 * MiB)).not.toThrow();
});

test('a body that announces much and sends little takes nothing from others', () => {
  const bodies = bodiesInFlight(160 * MiB);
  for (let caller = 0; caller < 20; caller++) bodies.hold(String(caller), 40 * MiB).add(MiB - 1);
  expect(() => bodies.hold('20', 27 * MiB).add(27 * MiB)).not.toThrow();
});

test('the largest body fits, and what it takes up in addition', () => {
  const bodies = bodiesInFlight(160 * MiB);
  const body = bodies.hold('1');
  for (let piece = 0; piece < 80; piece++) body.add(MiB);
  expect(() => body.add(1)).toThrowError(refusal);
  body.release();
  expect(() => bodies.hold('1').add(80 * MiB)).not.toThrow();
});
