import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentUrl, readContentUrl, replaceSources, withImagePaths } from './content-urls.ts';

const attachment = (contentId?: string) => ({
  ...{ id: 'aaaaaaaa', name: 'a.png', size: 1, contentType: 'image/png', fileEnding: 'png', inline: true },
  ...{ width: null, height: null, createdAt: 0, key: 'k', ...(contentId === undefined ? {} : { contentId }) },
});
const shown = (html: string, contentId?: string) =>
  withImagePaths(sanitiseHtml(html), { ticketId: 7, attachments: [attachment(contentId)] });

test('an id of content is found again in its URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      expect(readContentUrl(contentUrl(id))).toBe(id);
    }),
  );
  expect(readContentUrl('https://a')).toBeUndefined();
});

test('images that came with a text are named by their paths, whatever their ids contain', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      const html = `<p>a</p><img src="${contentUrl(id)}" alt="b">`;
      expect(shown(html, id)).toBe('<p>a</p><img alt="b" src="/ticket/7/attachment/aaaaaaaa" />');
    }),
  );
});

test('other sources stay, and texts that look like one', () => {
  const html = '<p>src="cid:a"</p><img src="cid:b" /><img src="https://x.org/cid:a" />';
  expect(shown(html, 'a')).toBe(html);
  expect(shown('<img src="cid:a">')).toBe('<img src="cid:a" />');
  expect(shown('<img alt="x src="><img src="cid:a">', 'a')).toBe(
    '<img alt="x src=" /><img src="/ticket/7/attachment/aaaaaaaa" />',
  );
});

test('only what a reader of HTML takes for the source of an image is replaced', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('<img ', 'src="cid:a"', ' alt="', '"', '>', '<b>', 'src=', "'", ' '), { maxLength: 20 }),
      (parts) => {
        const html = sanitiseHtml(`${parts.join('')}<i>x</i>`);
        const sources: string[] = [];
        const replaced = replaceSources(html, (source) => void sources.push(source));
        expect(replaced).toBe(html);
        expect(sources).toEqual([...html.matchAll(/<img[^>]* src="([^"]*)"/g)].map(([, source]) => source));
      },
    ),
  );
});
