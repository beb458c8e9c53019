import { type AttachmentState, maxMessageFileBytes } from '@ticketing/files/attachment.ts';
import type { OutgoingMail } from '../message/rules/outgoing-mail.ts';
import { contentUrl, filePath, replaceSources } from '../text/rules/content-urls.ts';

/** An image that a mail carries as an inline part: a file of its ticket, or one that was pasted into the text. */
export interface EmbeddedImage {
  /** Its `Content-ID` without angle brackets. */
  cid: string;
  image: AttachmentState | PastedImage;
}

/** An image that the text carries itself. */
export interface PastedImage {
  contentType: string;
  base64: string;
}

/** The HTML of a mail with the images that it shows. */
export interface EmbeddedHtml {
  html: string;
  images: readonly EmbeddedImage[];
}

const ticketPath = /<img\b[^<>]* src="\/ticket\//;

/** Whether the HTML of a mail may show files of its ticket. */
export function showsFiles({ html }: Pick<OutgoingMail, 'html'>): boolean {
  return html !== null && ticketPath.test(html);
}

/**
 * Makes inline parts of the images that the HTML of a mail carries itself, or that are files of its ticket, since mail
 * programs show neither `data:` nor our paths. An image that is no file of the ticket, or for which the mail has no room,
 * loses its source, and so does one that is named by `cid:`: a stranger who is quoted may have guessed its id.
 *
 * Source: docs/reference/api.md, Outgoing mail; RFC 2387, RFC 2392.
 */
export function embedImages(
  { html, messageId, ticketId, attachments }: OutgoingMail,
  ticketFiles: readonly AttachmentState[],
): EmbeddedHtml {
  const images = new Map<string, EmbeddedImage>();
  const isImage = ({ contentType }: AttachmentState) => contentType.startsWith('image/');
  const files = new Map(
    // A file of the message itself counts first.
    [...ticketFiles, ...attachments].filter(isImage).map((file) => [filePath(ticketId, file.id), file]),
  );
  const own = new Set(attachments.map(({ key }) => key));
  let room = maxMessageFileBytes - attachments.reduce((sum, { size }) => sum + size, 0);
  const embed = (name: string, image: AttachmentState | PastedImage) => {
    const known = images.get(name);
    if (known) return contentUrl(known.cid);
    const bytes = 'base64' in image ? (image.base64.length / 4) * 3 : own.has(image.key) ? 0 : image.size;
    if (bytes > room) return '';
    room -= bytes;
    const cid = `image${images.size + 1}.${messageId.replace(/[<>]/g, '')}`;
    images.set(name, { cid, image });
    return contentUrl(cid);
  };
  const embedded = replaceSources(html ?? '', (source) => {
    const pasted = readDataUrl(source);
    if (pasted) return embed(source, pasted);
    const file = files.get(source);
    if (file) return embed(file.key, file);
    return source.startsWith('/') || source.startsWith('cid:') ? '' : undefined;
  });
  return { html: embedded, images: [...images.values()] };
}

function readDataUrl(source: string): PastedImage | undefined {
  const [prefix = '', contentType] = /^data:(image\/[a-z]{1,10});base64,/i.exec(source) ?? [];
  return contentType === undefined ? undefined : { contentType, base64: source.slice(prefix.length) };
}
