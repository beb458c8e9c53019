import { readExposition, type Sample } from '../observability/prometheus-text.ts';

/** The state of a process of the system, as its internal port reports it. */
export interface ObservedProcess {
  url: string;
  /** The service that it runs, as it reports or as the caller expects; undefined if neither names one. */
  service: string | undefined;
  /** Why it could not be asked, as the end of a sentence about it; undefined if it has responded. */
  problem?: string;
  /** Whether this is an address for clients, which has no metrics: then only readiness and clock are known. */
  isPublic?: boolean;
  /** Its dependencies that are down. */
  down: readonly string[];
  samples: readonly Sample[];
  /** How far its clock is ahead of that of this program; undefined if it does not say its time. Units: seconds. */
  clockAhead?: number | undefined;
}

const timeoutMs = 5_000;

/** A process responds, but not as one of this system on its internal port. */
class UnexpectedResponse extends Error {
  override readonly name = 'UnexpectedResponse';

  constructor(path: string, status: number) {
    super(`${path} responds with ${status}`);
  }
}

/** Asks a process for its readiness and its metrics. `url` names its internal port. */
export async function observeProcess(url: string, expected?: string): Promise<ObservedProcess> {
  try {
    const { report, date } = await readReadiness(url);
    const down = Object.entries(report.dependencies ?? {}).flatMap(([name, state]) => (state === 'down' ? [name] : []));
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(timeoutMs) });
    if (isClientAddress(response)) {
      await response.body?.cancel();
      return { url, service: expected, isPublic: true, down, samples: [], clockAhead: date };
    }
    if (!response.ok) throw new UnexpectedResponse('/metrics', response.status);
    const { samples } = readExposition(await response.text());
    const service = samples.find(({ name }) => name === 'ticketing_build_info')?.labels.service ?? expected;
    return { url, service, down, samples, clockAhead: date };
  } catch (error) {
    return { url, service: expected, problem: readReason(error), down: [], samples: [] };
  }
}

/** A listener for clients wants a credential for each path that it does not know, or says that there is no such path. */
function isClientAddress({ status }: Response): boolean {
  return status === 401 || status === 404;
}

async function readReadiness(url: string) {
  const askedAt = Date.now();
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200 && response.status !== 503) throw new UnexpectedResponse('/readyz', response.status);
  const report = (await response.json()) as { dependencies?: Record<string, string> };
  const at = Date.parse(response.headers.get('date') ?? '');
  // The header says whole seconds.
  const date = Number.isNaN(at) ? undefined : (at + 500 - (askedAt + Date.now()) / 2) / 1000;
  return { report, date };
}

function readReason(error: unknown): string {
  if (error instanceof UnexpectedResponse || error instanceof SyntaxError) {
    return `is not the internal port of a process of this system: ${error.message}`;
  }
  if (!(error instanceof Error)) return `does not respond: ${String(error)}`;
  if (error.name === 'TimeoutError') return `does not respond within ${timeoutMs / 1000} s`;
  const cause = error.cause instanceof Error && error.cause.message !== '' ? error.cause : error;
  return `does not respond: ${cause.message}`;
}
