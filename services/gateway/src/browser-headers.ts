/** A year, the least that browsers' lists of hosts accept. */
const transportSecurity = 'max-age=31536000; includeSubDomains';

/**
 * Returns the headers of every response that keep browsers from doing more with it than its page asked for: they guess
 * no type, load nothing through it, show it in no frame and no page of another site, and send no address in `Referer`.
 * Pages and files replace the policy by their own. Over a public https origin, browsers are also bound to https;
 * elsewhere, such as on localhost, this would bind other programs on the same host.
 */
export function browserHeaders(publicOrigin: string | undefined): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    ...(publicOrigin?.startsWith('https:') && { 'strict-transport-security': transportSecurity }),
  };
}
