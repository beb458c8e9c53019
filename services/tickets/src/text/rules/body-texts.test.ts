import { escapeTags, sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyTexts, unconvertedTexts } from './body-texts.ts';

describe('bodyTexts', () => {
  it('has the sanitised HTML, the plain and the clean text', () => {
    expect(bodyTexts('<p onclick="x()">Hallo</p><p>-- <br>Kim</p>')).toEqual({
      bodyHtml: '<p>Hallo</p><p>-- <br />Kim</p>',
      bodyPlain: 'Hallo\n\n--\nKim',
      bodyClean: 'Hallo',
    });
  });

  // spec: 21.14
  it('has no HTML for a text', () => {
    expect(bodyTexts('a <b and c')).toEqual({ bodyHtml: null, bodyPlain: 'a <b and c', bodyClean: 'a <b and c' });
  });

  it('drops the HTML if all texts together have more bytes than fit into a document', () => {
    // An image is in the HTML only, so its length is that of the texts, apart from a few bytes.
    const image = (bytes: number) => `<img src="data:image/png;base64,${'A'.repeat(bytes)}" />`;
    const most = 6_815_744 - image(0).length;
    expect(bodyTexts(image(most)).bodyHtml).toHaveLength(6_815_744);
    expect(bodyTexts(image(most + 1)).bodyHtml).toBeNull();
  });
});

it('a body that could not be converted is its own text, and its clean text ends with a whole character', () => {
  const texts = unconvertedTexts(`${'x'.repeat(262_143)}😀<script>`);
  expect(texts.bodyHtml).toBeNull();
  expect(texts.bodyPlain).toContain('<script>');
  expect(texts.bodyClean).toHaveLength(262_144);
  expect(texts.bodyClean.isWellFormed()).toBe(true);
});

describe('escapeTags', () => {
  const body = fc
    .array(fc.oneof(fc.constantFrom('<', '\0', 'b', '/', '!', '>', ' ', '<script>'), fc.string()))
    .map((parts) => parts.join(''));

  it('leaves no start of a tag, and is what sanitising makes of a text', () => {
    fc.assert(
      fc.property(body, (text) => {
        expect(escapeTags(text)).not.toMatch(/<(?=[a-z/!?]|$)/i);
        const harmless = text.replaceAll('>', '').replaceAll('\0', '');
        expect(escapeTags(harmless)).toBe(sanitiseHtml(harmless));
      }),
    );
  });

  it('gives the same result part by part', () => {
    fc.assert(
      fc.property(body, fc.nat(), (text, at) => {
        const cut = text.length === 0 ? 0 : at % (text.length + 1);
        const [first, second] = [text.slice(0, cut), text.slice(cut)];
        const parts = escapeTags(first, second) + escapeTags(second);
        expect(parts.replaceAll('\0', '')).toBe(escapeTags(text).replaceAll('\0', ''));
      }),
    );
  });
});
