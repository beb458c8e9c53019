import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { contentUrl, readContentUrl } from '../text/rules/content-urls.ts';

/** A file of a mail that its text may show. */
export interface ImageFile {
  /** Without angle brackets; null without one. */
  contentId: string | null;
  /** Its `Content-Location`; empty without one. */
  location: string;
  bytes: Uint8Array;
}

/** The source of an image. Nothing that stands before it in its tag has a `<`, so that the time is linear. */
const imageSource = /(<img\b(?:[^<>"']|"[^"<]*"|'[^'<]*')*?\ssrc\s*=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)/gi;
const anyContentUrl = /\bcid:[^\s"'<>)]{1,1000}/gi;

/**
 * Connects an HTML text with the files that it shows: by `cid:` with the id of the content in any case and encoding, by the
 * bare id, or by `Content-Location` (RFC 2392, RFC 2557). Each such source becomes the `cid:` of the file, as `contentUrl`
 * writes it, or with `embeds` the image itself. A source stays as it is if the text would have more than `maxBytes` bytes.
 */
export function connectImages<File extends ImageFile>(
  html: string,
  files: readonly File[],
  { maxBytes, embeds }: { maxBytes: number; embeds: boolean },
): { html: string; shown: ReadonlySet<File> } {
  const shown = new Set<File>();
  if (files.length === 0) return { html, shown };
  const find = fileFinder(files);
  let room = maxBytes - Buffer.byteLength(html);
  const toSource = ({ contentId, bytes: image }: File): string =>
    (embeds && dataUrl(image, room)) || contentUrl(contentId ?? '');
  const connected = html.replace(imageSource, (whole, before: string, written: string) => {
    const file = find(withoutQuotes(written));
    if (!file) return whole;
    shown.add(file);
    const tag = `${before}"${toSource(file)}"`;
    const added = Buffer.byteLength(tag) - Buffer.byteLength(whole);
    if (added > room) return whole;
    room -= added;
    return tag;
  });
  // Backgrounds, for example, are shown by no `img`.
  for (const [url] of connected.matchAll(anyContentUrl)) {
    const file = find(url);
    if (file) shown.add(file);
  }
  return { html: connected, shown };
}

/** Makes the search of a file by the source of an image. The first of several files with one id counts. */
function fileFinder<File extends ImageFile>(files: readonly File[]): (source: string) => File | undefined {
  const byId = new Map<string, File>();
  const byLocation = new Map<string, File>();
  for (const file of files) {
    const { contentId, location } = file;
    if (contentId !== null && !byId.has(contentId.toLowerCase())) byId.set(contentId.toLowerCase(), file);
    if (location !== '' && !byLocation.has(location)) byLocation.set(location, file);
  }
  return (source) => byId.get((readContentUrl(source) ?? source).toLowerCase()) ?? byLocation.get(source);
}

function withoutQuotes(written: string): string {
  return written
    .replace(/^["']|["']$/g, '')
    .replaceAll('&amp;', '&')
    .trim();
}

/** The first bytes of the images that a text may carry itself, and their types. */
const signatures: readonly [type: string, hex: string][] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '474946383761'],
  ['image/gif', '474946383961'],
];

/** The image as a URL; undefined if it is of no type that a text may carry, or the URL has more characters. */
function dataUrl(bytes: Uint8Array, maxChars: number): string | undefined {
  const image = toBuffer(bytes);
  const head = image.toString('hex', 0, 12);
  const isWebp = head.startsWith('52494646') && head.length === 24 && image.toString('latin1', 8, 12) === 'WEBP';
  const type = isWebp ? 'image/webp' : signatures.find(([, hex]) => head.startsWith(hex))?.[0];
  if (type === undefined) return undefined;
  const prefix = `data:${type};base64,`;
  return prefix.length + 4 * Math.ceil(image.length / 3) > maxChars ? undefined : prefix + image.toString('base64');
}
