/** Whether a header `If-None-Match` names an entity tag, or any. Source: RFC 9110, section 13.1.2. */
export function namesEtag(header: string | undefined, etag: string): boolean {
  const names = header?.split(',').map((name) => name.trim().replace(/^W\//, '')) ?? [];
  return names.includes(etag) || names.includes('*');
}
