import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

const names = [
  ...['authorization', 'cookie', 'set-cookie', 'token', 'accessToken', 'secret', 'password', 'key'],
  ...['body', 'bodyHtml', 'bodyPlain', 'bodyClean', 'subject', 'summary', 'content', 'rawData'],
];

// asvs: 16.2.4
test('logs an error with its causes, but none of its other properties', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const state: Record<string, unknown> = { subject: 'geheim' };
  state.itself = state;
  const cause = Object.assign(new Error('inner'), { code: 'EPIPE', state });
  log.error({ err: Object.assign(new TypeError('outer', { cause }), { reason: 'broken', state }) }, 'failed');
  const { err } = JSON.parse(lines[0] ?? '');
  expect(err).toMatchObject({
    type: 'TypeError',
    message: 'outer',
    reason: 'broken',
    cause: { message: 'inner', code: 'EPIPE' },
  });
  expect(err.stack).toContain('outer');
  expect(lines.join()).not.toContain('geheim');
});

test('logs only the kind of a cause that is no error', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const state: Record<string, unknown> = { subject: 'geheim' };
  state.itself = state;
  log.warn({ err: new Error('outer', { cause: state }) }, 'failed');
  expect(JSON.parse(lines[0] ?? '').err).toMatchObject({ message: 'outer', cause: 'Object' });
  expect(lines.join()).not.toContain('geheim');
});

// guarantee: S5
// asvs: 14.2.4, 16.2.5
test.each(names)('never writes a property named %s, at any of four levels', (name) => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  const leak = { [name]: 'geheim', kept: 'sichtbar' };
  log.info(leak);
  log.info({ request: leak, ticket: { [name]: ['geheim'] } });
  log.info({ request: { headers: leak } });
  log.info({ err: { config: { headers: leak } } });
  expect(lines).toHaveLength(4);
  expect(lines.join()).not.toContain('geheim');
  expect(lines.filter((line) => line.includes('sichtbar'))).toHaveLength(4);
});
