import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sheetText } from './sheet-text.ts';

test.each([
  ['', ''],
  ['plain', 'plain'],
  ['tab\tand\nline', 'tab\tand\nline'],
  ['a\r\nb\rc\n\rd', 'a\nb\nc\n\nd'],
  ['\u0000a\u0008b\u000bc\u000cd\u001fe\u007f', '\ufffda\ufffdb\ufffdc\ufffdd\ufffde\ufffd'],
  ['\u0085\u009f\ufdd0', '\u0085\u009f\ufdd0'],
  ['\ufffe\uffff', '\ufffd\ufffd'],
  ['\ud800a\udc00', '\ufffda\ufffd'],
  ['😀', '😀'],
  ['_x0041_', '_x005F_x0041_'],
  ['_x005F_x0041_', '_x005F_x005F_x005F_x0041_'],
  ['_x000a_', '_x005F_x000a_'],
  ['_x0041_x0042_', '_x005F_x0041_x005F_x0042_'],
  ['__x0041__', '__x005F_x0041__'],
  ['_x41_ _x0041 x0041_ _xyzzy_', '_x41_ _x0041 x0041_ _xyzzy_'],
  ['=HYPERLINK("http://x","y")', '=HYPERLINK("http://x","y")'],
])('converts %j', (text, expected) => {
  expect(sheetText(text)).toBe(expected);
});

test.each([
  ['a'.repeat(32_767), 32_767],
  ['a'.repeat(32_768), 32_767],
  [`${'a'.repeat(32_765)}😀`, 32_767],
  [`${'a'.repeat(32_766)}😀`, 32_766],
  [`${'a'.repeat(32_766)}😀b`, 32_766],
  ['😀'.repeat(20_000), 32_766],
  ['\r\n'.repeat(32_767), 32_767],
])('cuts at 32,767 UTF-16 units, never in the middle of a surrogate pair', (text, length) => {
  const cell = sheetText(text);
  expect(cell).toHaveLength(length);
  expect(text.replaceAll('\r\n', '\n').startsWith(cell)).toBe(true);
});

test('a reader that decodes escapes gets the same text, except for characters that XML cannot contain', () => {
  const unit = fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom('_', 'x0041', '_x000A_', '\r'));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const read = sheetText(text).replace(/_x([0-9A-F]{4})_/gi, (_match, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      const kept = [...text.replace(/\r\n?/g, '\n')].map((char) => (isXmlChar(char) ? char : '\ufffd')).join('');
      expect(read).toBe(kept);
    }),
  );
});

function isXmlChar(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x7f) return false; // exceljs drops it, so it is replaced too
  return (
    code === 9 || code === 10 || (code >= 0x20 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd) || code > 0xffff
  );
}
