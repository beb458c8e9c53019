import { mergeOpenApi, type OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { type PublicDocument, publicJson } from '@ticketing/rest/routes/public-document.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { UpstreamAgent } from '../proxy/upstream-agent.ts';

/** The OpenAPI document of the whole API, merged from the documents of the services. */
export interface ApiDescription {
  /** Returns the document, merged from the parts that were fetched last. It is the same object until a part changes. */
  latest(): PublicDocument;
  /**
   * Fetches the documents of the services again if they are older than a minute, or than 5 seconds if one could not be
   * fetched. While one was never fetched, as during a start, the wait begins at 250 ms and doubles up to 5 seconds.
   */
  refresh(): Promise<void>;
}

/** Options of `apiDescription`. */
export interface ApiDescriptionOptions {
  /** The document of the gateway's own endpoints. */
  own: OpenApiDocument;
  /** The base URL of each service's REST API, by the name of the service. */
  upstreamUrls: ReadonlyMap<string, string>;
  agent: UpstreamAgent;
  sessionCookie: string;
  log: Logger;
  /** A clock that never goes back. */
  now: () => number;
}

const freshMs = 60_000;
const retryMs = 5_000;
const firstRetryMs = 250;
const fetchTimeoutMs = 2_000;

/**
 * Opens the description. For an unavailable service it uses the document that was fetched last; a service whose document
 * was never fetched is left out.
 */
export function apiDescription(options: ApiDescriptionOptions): ApiDescription {
  const parts = new Map<string, OpenApiDocument>();
  let latest = publicJson(merge(options, []));
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let freshForMs = 0;
  let running: Promise<void> | undefined;

  const load = async () => {
    const isFetched = await Promise.all([...options.upstreamUrls].map((upstream) => fetchPart(upstream)));
    const isIncomplete = parts.size < options.upstreamUrls.size;
    if (isFetched.every(Boolean)) freshForMs = freshMs;
    else freshForMs = isIncomplete ? Math.min(retryMs, freshForMs * 2 || firstRetryMs) : retryMs;
    try {
      const merged = publicJson(merge(options, [...parts.values()]));
      if (merged.etag !== latest.etag) latest = merged;
    } catch (error) {
      // During an upgrade, the documents of two services may contain different versions of a shared component.
      options.log.warn({ err: error }, 'the API descriptions of the services cannot be merged');
      freshForMs = retryMs;
    }
    fetchedAt = options.now();
  };
  const fetchPart = async ([name, url]: [string, string]) => {
    try {
      parts.set(name, await fetchDocument(options.agent, url));
      return true;
    } catch (error) {
      options.log.debug({ err: error, upstream: name }, 'the API description of a service cannot be fetched');
      return false;
    }
  };
  return {
    latest: () => latest,
    async refresh() {
      if (options.now() - fetchedAt < freshForMs) return running;
      running ??= load().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

function merge({ own, sessionCookie }: ApiDescriptionOptions, parts: readonly OpenApiDocument[]): OpenApiDocument {
  const whole = mergeOpenApi([own, ...parts], own.info);
  const { cookieAuth } = whole.components.securitySchemes;
  if (cookieAuth) whole.components.securitySchemes.cookieAuth = { ...cookieAuth, name: sessionCookie };
  return whole;
}

async function fetchDocument(agent: UpstreamAgent, url: string): Promise<OpenApiDocument> {
  const document = (await agent.getJson(url, '/openapi.json', fetchTimeoutMs)) as OpenApiDocument;
  if (!document.paths) throw new Error(`${url}/openapi.json has no paths`);
  return document;
}
