import type { components } from './gen/openapi.ts';

/** A file as a request sends it. */
export type AttachmentInput = components['schemas']['AttachmentInput'];

/** Makes an attachment of a ticket, message or template from bytes; from a text its UTF-8. */
export function attachmentOf(name: string, content: Uint8Array | string): AttachmentInput {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  let binary = '';
  // An argument for each byte: there can be too many for one call.
  for (let start = 0; start < bytes.length; start += 32_768) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 32_768));
  }
  return { name, base64: btoa(binary) };
}

/**
 * The file name that a response suggests, without folders; undefined if it suggests none.
 *
 * Source: RFC 6266.
 */
export function fileNameOf({ headers }: { headers: Headers }): string | undefined {
  const disposition = headers.get('content-disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  const [, quoted, bare] = /filename="((?:[^"\\]|\\.)*)"|filename=([^;"\s]+)/i.exec(disposition) ?? [];
  const name = encoded ? decoded(encoded) : (quoted?.replace(/\\(.)/g, '$1') ?? bare);
  return name?.split(/[/\\]/).at(-1) || undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
