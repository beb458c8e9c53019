/** Returns the value of a cookie in a `Cookie` header; undefined if the header does not contain the cookie. */
export function readCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}

/**
 * Returns the `Set-Cookie` header that stores a token, or clears the cookie if there is no token. A JWT needs no
 * escaping.
 */
export function writeCookie(name: string, token = '', maxAgeSeconds = 0): string {
  return `${name}=${token}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; Secure; SameSite=Lax`;
}
