/** The text with which the OpenAPI document and its reference page begin. */
export const introduction = `
Tickets of customer service: messages, attachments, tags, the actions that AI proposes, templates, knowledge, exports and
webhooks. All paths are relative to this host; requests and responses are JSON in UTF-8.

**A token.** Every operation needs one: \`Authorization: Bearer <token>\`, a signed JWT with the scope \`api\` from the
identity provider of your organisation. A system that \`npm start\` has started prints one for its administrator, and
\`npm run --silent token -- --help\` makes others. The button Authorize uses it for requests from this page. A browser can
store the token in a cookie by \`POST /auth/session\`.

**Rates.** A caller may send 600 requests a minute as a person and 60,000 as a machine, unless the installation sets other
limits. Each response counts in \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`; beyond a limit the
response is 429 with \`Retry-After\` in seconds. At most 64 requests may be in flight on one connection of HTTP/1.1.

**Errors.** Every error is a problem document (RFC 9457, \`application/problem+json\`). Programs read its \`code\`; for
invalid input \`errors\` names each invalid part by a JSON Pointer; \`traceId\` finds the request in the logs. A request
that fails changes nothing. 429, 502, 503 and 504 are worth another attempt, after \`Retry-After\` if there is one.

**Repeated requests.** A \`POST\` or \`PATCH\` with an \`Idempotency-Key\` is made once: for 24 hours the same key with the
same request returns the first response again.

**Versions.** The interface has version 1, without a segment in its paths. Deprecated fields keep working; they are marked
here, and a response to a request that uses one has the header \`Deprecation\`. Responses may get further members, which a
client ignores. A ticket has a \`version\`, which is its \`ETag\`: a change with \`If-Match\` is 412 if somebody else was
first.

**Changes.** Webhooks and the feed \`GET /event\` report them; the [AsyncAPI document](/asyncapi.json) describes both.
This document is at [/openapi.json](/openapi.json).
`
  .trim()
  .replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
