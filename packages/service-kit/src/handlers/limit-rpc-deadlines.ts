import type { ConnectRouter } from '@connectrpc/connect';
import { isEventStream } from '@ticketing/rest/codec/options.ts';
import { callDeadlineMs } from '../call/call.ts';

/**
 * Shortens the deadlines of clients to the deadline of the server, for all methods of a router. Connect itself could
 * only refuse a call with a longer one. A deadline that cannot be parsed is left for Connect to refuse. Streams without
 * an end keep theirs.
 */
export function limitRpcDeadlines({ handlers }: ConnectRouter): void {
  for (const [index, handler] of handlers.entries()) {
    if (isEventStream(handler.method)) continue;
    const limited: typeof handler = Object.assign(
      (request: Parameters<typeof handler>[0]) => handler({ ...request, header: shortened(request.header) }),
      handler,
    );
    handlers[index] = limited;
  }
}

function shortened(given: Headers): Headers {
  const tooLong = [
    ...(grpcMs(given.get('grpc-timeout')) > callDeadlineMs ? [['grpc-timeout', `${callDeadlineMs}m`] as const] : []),
    ...(connectMs(given.get('connect-timeout-ms')) > callDeadlineMs
      ? [['connect-timeout-ms', String(callDeadlineMs)] as const]
      : []),
  ];
  if (tooLong.length === 0) return given;
  const header = new Headers(given);
  for (const [name, value] of tooLong) header.set(name, value);
  return header;
}

/** The units of `grpc-timeout`, in ms. */
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

function grpcMs(header: string | null): number {
  const [, amount = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header ?? '') ?? [];
  return Number(amount) * (unitMs[unit] ?? 0);
}

function connectMs(header: string | null): number {
  return /^\d{1,10}$/.test(header ?? '') ? Number(header) : 0;
}
