import type { AttachmentState } from '@ticketing/files/attachment.ts';

/** The `cid:` URL of an id of content, in the one spelling of this system (RFC 2392). */
export function contentUrl(contentId: string): string {
  return `cid:${encodeURI(contentId.toWellFormed()).replace(/[&#?]/g, encodeURIComponent)}`;
}

/** The id of content that a `cid:` URL names; undefined for another text. */
export function readContentUrl(url: string): string | undefined {
  const [, id] = /^cid:(.+)$/i.exec(url) ?? [];
  if (id === undefined) return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** The path of a file of a ticket, by which clients get it. */
export function filePath(ticketId: number, attachmentId: string): string {
  return `/ticket/${ticketId}/attachment/${attachmentId}`;
}

/** Sources in HTML that `sanitiseHtml` has made: its tags have no `<` or `>` but their own, and quotes around values. */
const source = /(<img\b(?:[^<>"]|"[^"<>]*")*? src=")([^"<>]*)(?=")/g;

/** Replaces the sources of the images of sanitised HTML; one for which `replace` returns undefined stays. */
export function replaceSources(html: string, replace: (source: string) => string | undefined): string {
  return html.replace(source, (whole, before: string, value: string) => {
    const replaced = replace(value);
    return replaced === undefined ? whole : before + replaced;
  });
}

/** Sanitised HTML of a message in which images that came with it are named by the paths of its files. */
export function withImagePaths(
  html: string,
  { ticketId, attachments }: { ticketId: number; attachments: readonly AttachmentState[] },
): string {
  const withIds = attachments.filter(({ contentId }) => typeof contentId === 'string');
  if (withIds.length === 0 || !html.includes('cid:')) return html;
  // The first of several files with one id counts, as for mails.
  const paths = new Map(
    withIds.toReversed().map(({ id, contentId }) => [contentUrl(contentId ?? ''), filePath(ticketId, id)]),
  );
  return replaceSources(html, (url) => paths.get(url));
}
