import { parse } from 'content-disposition';
import { expect, test } from 'vitest';
import type { AttachmentState } from './attachment.ts';
import { chooseDownload } from './download.ts';

const attachment: AttachmentState = {
  id: 'abcd1234',
  name: 'a.txt',
  size: 10,
  contentType: 'text/plain',
  fileEnding: 'txt',
  inline: false,
  width: null,
  height: null,
  createdAt: 0,
  key: 'k',
};
const whole = { status: 200, range: { start: 0, end: 10 } };
const part = (start: number, end: number) => ({ status: 206, range: { start, end } });

test.each([
  [undefined, whole],
  ['bytes=0-9', part(0, 10)],
  ['bytes=0-', part(0, 10)],
  ['bytes=3-5', part(3, 6)],
  ['BYTES= 3-5 ', part(3, 6)],
  ['bytes=9-9', part(9, 10)],
  ['bytes=9-100', part(9, 10)],
  ['bytes=-3', part(7, 10)],
  ['bytes=-11', part(0, 10)],
  [`bytes=0-${'9'.repeat(400)}`, part(0, 10)],
  ['bytes=10-', undefined],
  ['bytes=10-20', undefined],
  [`bytes=${'9'.repeat(400)}-`, undefined],
  ['bytes=-0', undefined],
  // A header without exactly one valid range of bytes is ignored.
  ['bytes=5-3', whole],
  ['bytes=-', whole],
  ['bytes=a-b', whole],
  ['bytes=0-1,3-4', whole],
  ['lines=0-1', whole],
  ['0-1', whole],
])('Range %j', (range, expected) => {
  const download = chooseDownload(attachment, { range });
  expect(download && { status: download.status, range: download.range }).toEqual(expected);
  if (!download) return;
  const { start, end } = download.range;
  expect(download.headers).toMatchObject({ 'content-length': String(end - start), 'accept-ranges': 'bytes' });
  expect(download.headers['content-range']).toBe(download.status === 206 ? `bytes ${start}-${end - 1}/10` : undefined);
});

test('an empty file has no range', () => {
  const empty = { ...attachment, size: 0 };
  expect(chooseDownload(empty, {})).toMatchObject({ status: 200, headers: { 'content-length': '0' } });
  for (const range of ['bytes=0-', 'bytes=-1']) expect(chooseDownload(empty, { range })).toBeUndefined();
});

test('a range is sent only of the file that If-Range names', () => {
  const readStatus = (ifRange: string) => chooseDownload(attachment, { range: 'bytes=1-2', ifRange })?.status;
  expect(readStatus('"abcd1234"')).toBe(206);
  for (const other of ['"abcd1235"', 'W/"abcd1234"', 'Sun, 06 Nov 1994 08:49:37 GMT'])
    expect(readStatus(other)).toBe(200);
});

test('nothing is sent of a file that the client has', () => {
  const readStatus = (ifNoneMatch: string) => chooseDownload(attachment, { ifNoneMatch })?.status;
  for (const same of ['"abcd1234"', '"x", W/"abcd1234"', '*']) expect(readStatus(same)).toBe(304);
  expect(readStatus('"abcd123"')).toBe(200);
});

test.each([
  'a.txt',
  'a b.txt',
  'a"b.txt',
  'a\\b.txt',
  "a'b;c=d.txt",
  'a%20b.txt',
  'Größe €.txt',
  '😀.txt',
  '../../etc/passwd',
  'a.html',
])('the name %j is in a header of ASCII, and read again', (name) => {
  const header = chooseDownload({ ...attachment, name }, {})?.headers['content-disposition'] ?? '';
  expect(header).toMatch(/^attachment; filename=[\x20-\x7e]*$/);
  expect(parse(header)).toMatchObject({ type: 'attachment', parameters: { filename: name.replaceAll(/[/\\]/g, '_') } });
});

// asvs: 1.3.4, 5.4.1-5.4.2
test('a browser never shows the file', () => {
  expect(chooseDownload(attachment, {})?.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});
