import { expect, test } from 'vitest';
import { withVariables } from './compose-variables.ts';

const made = { KEYS_DIR: '/keys', ENCRYPTION_KEY: 'made' };

test('a new file has all variables', () => {
  expect(withVariables('', made)).toBe('KEYS_DIR=/keys\nENCRYPTION_KEY=made\n');
});

test('a variable that somebody has set keeps its value, so that stored secrets can still be read', () => {
  expect(withVariables('ENCRYPTION_KEY=own\n', made)).toBe('ENCRYPTION_KEY=own\nKEYS_DIR=/keys\n');
  expect(withVariables('KEYS_DIR=/own\nENCRYPTION_KEY=own\n', made)).toBe('KEYS_DIR=/own\nENCRYPTION_KEY=own\n');
});

test('a last line without an end is kept apart, and a comment sets nothing', () => {
  expect(withVariables('# KEYS_DIR=/old\nHTTP_PORT=80', { KEYS_DIR: '/keys' })).toBe(
    '# KEYS_DIR=/old\nHTTP_PORT=80\nKEYS_DIR=/keys\n',
  );
});
