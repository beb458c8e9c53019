import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from './file-format.ts';
import { jsonFormat } from './json.ts';
import { collect, onePerPage } from './pages-fixture.ts';

const columns: Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'subject', type: 'text' },
  { name: 'closed_at', type: 'dateTime' },
];

// spec: 30.8
test('writes objects in the order of the columns, with explicit nulls', async () => {
  const rows = [
    [1, 'Hello "you"', 1_767_323_045],
    [-2, '=HYPERLINK("http://x","y")', null],
    [null, null, 0],
  ];
  const bytes = await collect(jsonFormat.write(columns, onePerPage(rows)));
  expect(bytes.toString()).toBe(
    '[{"id":1,"subject":"Hello \\"you\\"","closed_at":"2026-01-02T03:04:05Z"},' +
      '{"id":-2,"subject":"=HYPERLINK(\\"http://x\\",\\"y\\")","closed_at":null},' +
      '{"id":null,"subject":null,"closed_at":"1970-01-01T00:00:00Z"}]',
  );
});

test('writes an empty array when there are no rows', async () => {
  expect((await collect(jsonFormat.write(columns, onePerPage([])))).toString()).toBe('[]');
});

// asvs: 1.2.3
test('a JSON parser reads every text back unchanged', async () => {
  const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constant('\ud800')) });
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (texts) => {
      const pages = onePerPage(texts.map((value) => [value]));
      const bytes = await collect(jsonFormat.write([{ name: 'text', type: 'text' }], pages));
      expect(JSON.parse(bytes.toString())).toEqual(texts.map((value) => ({ text: value })));
    }),
  );
});
