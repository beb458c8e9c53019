import { mergeOpenApi, type OpenApiDocument } from '@ticketing/rest/openapi.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { UpstreamAgent } from './upstream-agent.ts';

/** The description of the whole API, joined from those of the services. */
export interface ApiDescription {
  /** What is known of it now. */
  latest(): OpenApiDocument;
  /**
   * Asks the services again if what is known is older than a minute; than a few seconds, if one did not answer; than a
   * quarter of a second and more each time, if one has never been seen, as everything starts.
   */
  refresh(): Promise<void>;
}

/** What the description is made of. */
export interface ApiDescriptionOptions {
  /** The gateway's own part. */
  own: OpenApiDocument;
  /** The HTTP face of each service, by its name. */
  upstreamUrls: ReadonlyMap<string, string>;
  agent: UpstreamAgent;
  sessionCookie: string;
  log: Logger;
  now: () => number;
}

const freshMs = 60_000;
const retryMs = 5_000;
const firstRetryMs = 250;
const fetchTimeoutMs = 2_000;

/** Describes the API. The part of a service that is away is its last one; one never seen is left out. */
export function apiDescription(options: ApiDescriptionOptions): ApiDescription {
  const parts = new Map<string, OpenApiDocument>();
  let latest = join(options, []);
  let askedAt = Number.NEGATIVE_INFINITY;
  let keptMs = 0;
  let running: Promise<void> | undefined;

  const load = async () => {
    const seen = await Promise.all([...options.upstreamUrls].map((upstream) => ask(upstream)));
    const isUnseen = parts.size < options.upstreamUrls.size;
    keptMs = seen.every(Boolean) ? freshMs : isUnseen ? Math.min(retryMs, keptMs * 2 || firstRetryMs) : retryMs;
    try {
      latest = join(options, [...parts.values()]);
    } catch (error) {
      // Two versions of a service disagree while one replaces the other.
      options.log.warn({ err: error }, 'the descriptions of the services do not fit together');
      keptMs = retryMs;
    }
    askedAt = options.now();
  };
  const ask = async ([name, url]: [string, string]) => {
    try {
      parts.set(name, await fetchDocument(options.agent, url));
      return true;
    } catch (error) {
      options.log.debug({ err: error, upstream: name }, 'a service does not describe itself');
      return false;
    }
  };
  return {
    latest: () => latest,
    async refresh() {
      if (options.now() - askedAt < keptMs) return running;
      running ??= load().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

function join({ own, sessionCookie }: ApiDescriptionOptions, parts: readonly OpenApiDocument[]): OpenApiDocument {
  const { title, version } = own.info;
  const whole = mergeOpenApi([own, ...parts], { title, version });
  const { cookieAuth } = whole.components.securitySchemes;
  if (cookieAuth) whole.components.securitySchemes.cookieAuth = { ...cookieAuth, name: sessionCookie };
  return whole;
}

async function fetchDocument(agent: UpstreamAgent, url: string): Promise<OpenApiDocument> {
  const document = (await agent.getJson(url, '/openapi.json', fetchTimeoutMs)) as OpenApiDocument;
  if (!document.paths) throw new Error(`${url}/openapi.json describes nothing`);
  return document;
}
