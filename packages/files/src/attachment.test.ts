import { expect, test } from 'vitest';
import { attachmentName, readFileEnding, toAttachmentId } from './attachment.ts';

test.each([
  ['Rechnung März.pdf', 'Rechnung März.pdf'],
  ['  a.pdf ', 'a.pdf'],
  ['a\r\nSet-Cookie: b.pdf', 'a  Set-Cookie: b.pdf'],
  ['a\0b\u2028c', 'a b c'],
  ['fdp\u202etxt.exe', 'fdp txt.exe'],
  ['../../etc/passwd', '../../etc/passwd'],
  ['\ud800a', '\ufffda'],
  ['', 'attachment.png'],
  ['\n', 'attachment.png'],
  ['😀'.repeat(161), '😀'.repeat(160)],
  [`a${'😀'.repeat(160)}`, `a${'😀'.repeat(159)}`],
  // guarantee: I15
  // asvs: 5.3.2, 5.3.3, 5.4.1-5.4.2
])('the name %j becomes the label %j', (given, expected) => {
  expect(attachmentName(given, 'png')).toBe(expected);
});

test('a file without a name and of an unknown type has a name too', () => {
  expect(attachmentName('', null)).toBe('attachment');
});

test.each([
  ['a.PDF', 'pdf'],
  ['a.tar.gz', 'gz'],
  ['a', null],
  ['.profile', null],
  ['a.', null],
  ['a.b c', null],
  ['a.<script>', null],
  [`a.${'b'.repeat(16)}`, 'b'.repeat(16)],
  [`a.${'b'.repeat(17)}`, null],
])('the ending of %j is %j', (name, expected) => {
  expect(readFileEnding(name)).toBe(expected);
});

// spec: 26.1
test('an id has 8 characters, whatever the random bytes are', () => {
  expect(toAttachmentId(Buffer.alloc(8))).toBe('00000000');
  expect(toAttachmentId(Buffer.alloc(8, 255))).toMatch(/^[a-z0-9]{8}$/);
});
