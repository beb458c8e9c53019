import { isIP } from 'node:net';
import type { AddressRules } from './address-rules.ts';

const maxLength = 2048;

/** Why a URL is not accepted. `detail` completes a sentence that begins with the name of the field. */
export interface UrlProblem {
  code: 'too_long' | 'invalid_url' | 'user_info' | 'not_https' | 'address_refused';
  detail: string;
}

const refused: UrlProblem = { code: 'address_refused', detail: 'must not have a private or reserved address' };
const notHttps: UrlProblem = { code: 'not_https', detail: 'must be an https URL' };

/** Reads a URL to which a request is to be sent. A host that is a name is accepted: its addresses are checked when dialled. */
export function readOutboundUrl(text: string, rules: AddressRules): URL | UrlProblem {
  if (text.length > maxLength) return { code: 'too_long', detail: `must have at most ${maxLength} characters` };
  // `URL` would remove or replace these characters, so that people and other programs would read another URL.
  const isPlain = /^[a-z][a-z\d+.-]*:\/\/[^/?#]/i.test(text) && !/[\s\\\p{Cc}]/u.test(text);
  if (!isPlain || !URL.canParse(text)) return { code: 'invalid_url', detail: 'must be an absolute URL' };
  // Searched in the text, because `URL` drops an empty user name.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return { code: 'user_info', detail: 'must not contain user information' };
  const url = new URL(text);
  const { protocol } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return notHttps;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return rules.mayAccept(protocol) ? url : notHttps;
  const refusal = rules.findRefusal(host, protocol);
  if (refusal === undefined) return url;
  return refusal === 'NOT_HTTPS' ? notHttps : refused;
}
