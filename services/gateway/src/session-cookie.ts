/** The value of a cookie in a `Cookie` header, or undefined if it is not there. */
export function readCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}

/** The `Set-Cookie` header that keeps a token in a browser; without a token it clears the cookie. A JWT needs no encoding. */
export function writeCookie(name: string, token = '', maxAgeSeconds = 0): string {
  return `${name}=${token}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; Secure; SameSite=Lax`;
}
