import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { describe, expect, test } from 'vitest';
import { sniffedBytes, sniffFile } from './sniff-file.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([3, 0, 2, 0, 0, 0, 0])]);
const jpg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080005000401011100', 'hex');

const none = { width: null, height: null };

test.each([
  ['a PNG', png, { contentType: 'image/png', ending: 'png', width: 1, height: 1 }],
  ['a GIF', gif, { contentType: 'image/gif', ending: 'gif', width: 3, height: 2 }],
  ['a JPEG', jpg, { contentType: 'image/jpeg', ending: 'jpg', width: 4, height: 5 }],
  ['a PNG that ends too early', png.subarray(0, 20), { contentType: 'image/png', ending: 'png', ...none }],
  ['a PDF', Buffer.from('%PDF-1.4\n'), { contentType: 'application/pdf', ending: 'pdf', ...none }],
  ['a text', Buffer.from('Größe: 3\r\n\tm'), { contentType: 'text/plain', ending: 'txt', ...none }],
  ['HTML', Buffer.from('<!doctype html><script>a</script>'), { contentType: 'text/plain', ending: 'txt', ...none }],
  ['a script', Buffer.from('alert(1)'), { contentType: 'text/plain', ending: 'txt', ...none }],
  ['SVG', Buffer.from('<svg onload="a()"/>'), { contentType: 'text/plain', ending: 'txt', ...none }],
  ['bytes', Buffer.from([1, 2, 3, 0]), { contentType: 'application/octet-stream', ending: null, ...none }],
  ['ISO 8859-1', Buffer.from('Größe', 'latin1'), { contentType: 'application/octet-stream', ending: null, ...none }],
  ['half a character', Buffer.from([0x61, 0xc3]), { contentType: 'application/octet-stream', ending: null, ...none }],
  ['nothing', Buffer.alloc(0), { contentType: 'application/octet-stream', ending: null, ...none }],
])('%s', async (_, bytes, expected) => {
  expect(await sniffFile(bytes, true)).toEqual(expected);
});

test('a text whose inspected part ends in the middle of a character is a text', async () => {
  const text = Buffer.from(`a${'ä'.repeat(sniffedBytes)}`);
  expect((await sniffFile(text, true)).contentType).toBe('text/plain');
  expect((await sniffFile(text.subarray(0, 100), false)).contentType).toBe('text/plain');
});

// guarantee: I15
describe('a hostile file is inspected in a moment', () => {
  const repeated = (start: string, piece: Buffer) =>
    Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(20 * 1024 * 1024, piece)]);
  const exif = Buffer.alloc(42);
  exif.writeUInt32BE(0xffe10028);
  exif.write('Exif', 4);
  exif.write('MM', 10);
  exif.writeUInt16BE(65_535, 18);
  const zip = Buffer.alloc(31);
  zip.writeUInt32LE(0x04034b50);
  zip.writeUInt16LE(1, 26);

  test.each([
    ['a JPEG of zeros', repeated('\xff\xd8\xff\xe0', Buffer.from([0]))],
    ['a JPEG of empty segments', repeated('\xff\xd8', Buffer.from([0xff, 0xe0, 0, 2]))],
    ['a JPEG of Exif segments', repeated('\xff\xd8', exif)],
    ['a ZIP of empty files', repeated('', zip)],
    ['a PNG of zeros', repeated('\x89PNG\r\n\x1a\n', Buffer.from([0]))],
    ['a film of zeros', repeated('\0\0\0\x18ftypheic', Buffer.from([0]))],
    ['a sound with an endless header', repeated('ID3\x04\0\0\x7f\x7f\x7f\x7f', Buffer.from([0]))],
    ['XML of brackets', repeated('<?xml ', Buffer.from('<'))],
  ])('%s', async (_, bytes) => {
    await withinCpuTime(50, () => sniffFile(bytes, true));
  });
});
