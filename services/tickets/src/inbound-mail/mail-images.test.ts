import { describe, expect, it } from 'vitest';
import { connectImages, type ImageFile } from './mail-images.ts';

const png = Buffer.from('89504e470d0a1a0a00', 'hex');
const file = (contentId: string | null, location = '', bytes: Uint8Array = png): ImageFile => ({
  contentId,
  location,
  bytes,
});
const logo = file('Logo 1@x');
const photo = file('photo@x', 'https://example.org/photo.jpg');
const files = [logo, photo];
const room = { maxBytes: 10_000, embeds: false };
const embedded = (maxBytes = 10_000) => ({ maxBytes, embeds: true });

describe('the source of an image becomes the one spelling of the id of its file:', () => {
  it.each([
    ['as it is', '<img src="cid:photo@x">', '<img src="cid:photo@x">', [photo]],
    ['in other case', `<IMG alt='a' SRC='CID:PHOTO@X' >`, `<IMG alt='a' SRC="cid:photo@x" >`, [photo]],
    ['with percent-encoding', '<img src="cid:Logo%201%40x">', '<img src="cid:Logo%201@x">', [logo]],
    ['without quotes', '<img src=cid:photo@x>', '<img src="cid:photo@x">', [photo]],
    ['without cid:', '<img src="photo@x"/>', '<img src="cid:photo@x"/>', [photo]],
    ['by its location', '<img src="https://example.org/photo.jpg">', '<img src="cid:photo@x">', [photo]],
    ['with an entity', '<img src="a?b=1&amp;c=2">', '<img src="cid:a%3Fb=1%26c=2">', [file('a?b=1&c=2')]],
    ['of no file', '<img src="cid:none"><img src="https://example.org/x.png">', undefined, []],
    ['after a >', '<img alt="a > b" src="CID:photo%40x">', '<img alt="a > b" src="cid:photo@x">', [photo]],
    ['in another attribute', '<img alt=" src=photo@x ">', undefined, []],
    ['in a text', 'src="photo@x"', undefined, []],
    ['of a background', '<td background="cid:photo@x">', undefined, [photo]],
  ])('%s', (_name, html, expected, shown) => {
    const result = connectImages(
      html,
      shown.length > 0 && !files.includes(shown[0] as ImageFile) ? shown : files,
      room,
    );
    expect(result.html).toBe(expected ?? html);
    expect([...result.shown]).toEqual(shown);
  });

  it('while the text has room for it', () => {
    const long = file('漢'.repeat(110), 'a');
    const html = '<img src=a>'.repeat(10);
    const connect = (maxBytes: number) => connectImages(html, [long], { maxBytes, embeds: false }).html;
    expect(connect(10_000).length).toBeLessThan(10_001);
    expect(connect(10_000)).toContain('<img src=a>');
    expect(connect(20_000)).not.toContain('<img src=a>');
  });

  it('the first of two files with one id', () => {
    const [first, second] = [file('a'), file('A')];
    expect([...connectImages('<img src="cid:A">', [first, second], room).shown]).toEqual([first]);
  });
});

describe('with room, the text carries an image itself', () => {
  const data = `data:image/png;base64,${png.toString('base64')}`;
  const html = '<img src="cid:photo@x"><img src="cid:photo@x">';

  it('as often as the text has room for it', () => {
    expect(connectImages(html, files, embedded()).html).toBe(`<img src="${data}"><img src="${data}">`);
    const once = Buffer.byteLength(html) + data.length;
    expect(connectImages(html, files, embedded(once)).html).toBe(`<img src="${data}"><img src="cid:photo@x">`);
    expect(connectImages(html, files, embedded(once - 1)).html).toBe(html);
  });

  it.each([
    ['image/jpeg', 'ffd8ffe0'],
    ['image/gif', '474946383961'],
    ['image/webp', '524946460000000057454250'],
    [undefined, '3c7376673e'],
    [undefined, '52494646000000005741564520'],
  ])('if it is of a type that a text may carry: %s', (type, hex) => {
    const result = connectImages('<img src="cid:a">', [file('a', '', Buffer.from(hex, 'hex'))], embedded()).html;
    expect(result.startsWith(`<img src="data:${type};`)).toBe(type !== undefined);
  });
});
