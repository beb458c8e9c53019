import { expect, test } from 'vitest';
import { attachmentOf, fileNameOf } from './files.ts';

test('encodes bytes of any size, and texts as UTF-8', () => {
  for (const size of [0, 1, 32_768, 32_769, 200_000]) {
    const bytes = Buffer.alloc(size, 251);
    expect(attachmentOf('a.bin', bytes)).toEqual({ name: 'a.bin', base64: bytes.toString('base64') });
  }
  expect(attachmentOf('a.txt', 'Zähler').base64).toBe(Buffer.from('Zähler').toString('base64'));
});

test('reads the file name of a response, without folders', () => {
  const nameOf = (disposition: string) => fileNameOf({ headers: new Headers({ 'content-disposition': disposition }) });
  expect(nameOf('attachment; filename="meter.pdf"')).toBe('meter.pdf');
  expect(nameOf(`attachment; filename="Zhler.pdf"; filename*=UTF-8''Z%C3%A4hler.pdf`)).toBe('Zähler.pdf');
  expect(nameOf('attachment; filename=rows.csv')).toBe('rows.csv');
  expect(nameOf('attachment; filename="../../etc/passwd"')).toBe('passwd');
  expect(nameOf('attachment; filename="a\\"b.txt"')).toBe('a"b.txt');
  expect(nameOf("attachment; filename*=UTF-8''%ff")).toBeUndefined();
  expect(nameOf('attachment')).toBeUndefined();
});
