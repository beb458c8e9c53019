import type { IncomingHttpHeaders } from 'node:http';
import type { AddressRules } from './address-rules.ts';
import type { ExchangeResult } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';
import type { OutboundRequest } from './outbound-request.ts';
import { readOutboundUrl } from './outbound-url.ts';

type Headers = Readonly<Record<string, string>>;

/** Sends one request. The body of a response that `skipsBody` names is not read. */
export type Send = (
  url: URL,
  headers: Headers,
  skipsBody: (status: number, headers: IncomingHttpHeaders) => boolean,
) => Promise<ExchangeResult>;

const redirects = new Set([301, 302, 303, 307, 308]);
/** The headers that another origin may see; all others could be credentials. */
const harmless = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);

/**
 * Sends a request, and follows as many redirects as it allows. Each URL is checked as the first one.
 *
 * Errors: request_refused, address_refused, redirect_refused; those of `send`.
 */
export async function followRedirects(
  { url: text, method, headers: given = {}, maxRedirects }: OutboundRequest,
  rules: AddressRules,
  send: Send,
): Promise<ExchangeResult> {
  const follows = maxRedirects > 0 && (method === 'GET' || method === 'HEAD');
  const isFollowed = (status: number) => follows && redirects.has(status);
  let url = acceptedUrl(text, rules, 'request_refused');
  let headers: Headers = { 'accept-encoding': 'identity', ...given };
  for (let left: number = maxRedirects; ; left--) {
    const result = await send(url, headers, isFollowed);
    if (!isFollowed(result.status)) return result;
    if (left === 0) throw new OutboundError('redirect_refused', { code: 'TOO_MANY_REDIRECTS' });
    const { location = '' } = result.headers;
    if (location === '' || !URL.canParse(location, url.href)) {
      throw new OutboundError('redirect_refused', { code: 'INVALID_URL' });
    }
    const next = acceptedUrl(new URL(location, url).href, rules, 'redirect_refused');
    if (next.origin !== url.origin) headers = keepHarmless(headers);
    url = next;
  }
}

function acceptedUrl(text: string, rules: AddressRules, kind: 'request_refused' | 'redirect_refused'): URL {
  const url = readOutboundUrl(text, rules);
  if (url instanceof URL) return url;
  throw new OutboundError(url.code === 'address_refused' ? url.code : kind, { code: url.code.toUpperCase() });
}

function keepHarmless(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name.toLowerCase())));
}
