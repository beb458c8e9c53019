import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** Where traces are sent, by OTLP over HTTP. */
export interface TracesConfig {
  url: string;
  /** Sent with each request, for example a key. */
  headers: Readonly<Record<string, string>>;
  /** The share of the traces that are recorded, from 0 to 1. */
  ratio: number;
  /** The attributes of the process in addition to the name of the service, for example its environment. */
  resource: Readonly<Record<string, string>>;
}

const pairs = /^\s*[^=,\s]+=[^,]*(,\s*[^=,\s]+=[^,]*)*$/;

/**
 * Reads the standard variables of OpenTelemetry. Without `OTEL_TRACES_EXPORTER=otlp` nothing is recorded.
 *
 * Source: docs/operations/observability.md, Traces.
 */
export function readTracesConfig(from: ConfigReader): TracesConfig | undefined {
  const words = (name: string, ...accepted: string[]) =>
    from.standardText(name, { accepts: (text) => accepted.includes(text), meaning: accepted.join(' or ') });
  const url = { accepts: isCollectorUrl, meaning: 'an http or https URL without user info' };
  const list = { pattern: pairs, meaning: 'key=value,…' };
  const exporter = words('OTEL_TRACES_EXPORTER', 'otlp', 'none');
  words('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf');
  const sampler = words('OTEL_TRACES_SAMPLER', 'always_on', 'traceidratio');
  const ratio = from.standardText('OTEL_TRACES_SAMPLER_ARG', {
    accepts: (text) => /^(0|1|0?\.\d+|1\.0+|0\.0*)$/.test(text),
    meaning: 'a number from 0 to 1',
  });
  const ownUrl = from.standardText('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', url);
  const baseUrl = from.standardText('OTEL_EXPORTER_OTLP_ENDPOINT', url) ?? 'http://localhost:4318';
  const headers = from.standardText('OTEL_EXPORTER_OTLP_HEADERS', list);
  const resource = from.standardText('OTEL_RESOURCE_ATTRIBUTES', list);
  if (ratio !== undefined && sampler !== 'traceidratio') {
    from.refuse('OTEL_TRACES_SAMPLER_ARG needs OTEL_TRACES_SAMPLER=traceidratio.');
  }
  if (exporter !== 'otlp') return undefined;
  return {
    url: ownUrl ?? `${baseUrl.replace(/\/$/, '')}/v1/traces`,
    headers: readPairs(headers),
    ratio: Number(ratio ?? 1),
    resource: readPairs(resource),
  };
}

function isCollectorUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

function readPairs(text = ''): Record<string, string> {
  const entries = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    entries.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeText(pair.slice(at + 1).trim())];
    }),
  );
}

/** The standard escapes values as in a URL. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
