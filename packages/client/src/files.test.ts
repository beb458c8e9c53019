import { expect, test } from 'vitest';
import { readFileName, toAttachment } from './files.ts';

test('encodes bytes of any size, and texts as UTF-8', () => {
  for (const size of [0, 1, 32_768, 32_769, 200_000]) {
    const bytes = Buffer.alloc(size, 251);
    expect(toAttachment('a.bin', bytes)).toEqual({ name: 'a.bin', base64: bytes.toString('base64') });
  }
  expect(toAttachment('a.txt', 'Zähler').base64).toBe(Buffer.from('Zähler').toString('base64'));
});

test('reads the file name of a response, without folders', () => {
  const toName = (disposition: string) =>
    readFileName({ headers: new Headers({ 'content-disposition': disposition }) });
  expect(toName('attachment; filename="meter.pdf"')).toBe('meter.pdf');
  expect(toName(`attachment; filename="Zhler.pdf"; filename*=UTF-8''Z%C3%A4hler.pdf`)).toBe('Zähler.pdf');
  expect(toName('attachment; filename=rows.csv')).toBe('rows.csv');
  expect(toName('attachment; filename="../../etc/passwd"')).toBe('passwd');
  expect(toName('attachment; filename="a\\"b.txt"')).toBe('a"b.txt');
  expect(toName("attachment; filename*=UTF-8''%ff")).toBeUndefined();
  expect(toName('attachment')).toBeUndefined();
});
