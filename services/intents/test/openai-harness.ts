import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { parseAddressRange } from '@ticketing/outbound/address-range.ts';
import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { DetectionSettings } from '../src/detection/configured.ts';
import { type OpenaiParts, openaiDetection } from '../src/detection/openai.ts';
import type { OpenaiLimits } from '../src/detection/openai-limits.ts';
import type { DetectionRequest } from '../src/detection/provider.ts';
import { answering, type StubModel, sendJson, startStubModel } from './stub-model.ts';

/** The key that the settings have. */
export const key = 'sk-the-key-of-the-endpoint';
/** Limits that no test reaches by chance. */
export const limits: OpenaiLimits = {
  timeoutMs: 20_000,
  maxConcurrent: 8,
  maxWaiting: 32,
  pauseMs: 60_000,
  requestsPerMinute: 1000,
  tokensPerMinute: 10_000_000,
};
/** A ticket with two tags to choose from. */
export const request: DetectionRequest = {
  ticketId: 7,
  text: { subject: 'Zählerstand', body: 'Mein Zähler steht auf 4711. Die Rechnung ist falsch!' },
  channel: Channel.EMAIL,
  tags: [
    { id: 3, name: 'Billing / Invoice', keywords: ['rechnung'] },
    { id: 12, name: 'Meter', keywords: [] },
  ],
  keywords: ['Rechnung', 'Umzug'],
};
/** A signal that does not abort. */
export const never = new AbortController().signal;

/** A model, and the settings and the clock of a provider that asks it. */
export interface OpenaiHarness {
  model: StubModel;
  settings: DetectionSettings;
  now: number;
  parts(changed?: Partial<OpenaiLimits>): OpenaiParts & { settings(): Promise<DetectionSettings> };
  open(
    changed?: Partial<OpenaiLimits>,
  ): (one?: Partial<DetectionRequest>, signal?: AbortSignal) => ReturnType<ReturnType<typeof openaiDetection>>;
}

/** Starts a model for the tests of a file, and resets it before each of them. */
export function useModel(): OpenaiHarness {
  const ranges = [parseAddressRange('127.0.0.0/8')].flatMap((range) => range ?? []);
  const outbound = outboundGuard({ allow: ranges, requireHttps: true });
  const used: OpenaiHarness = {
    // Set before the first test.
    model: undefined as unknown as StubModel,
    settings: { aiProvider: 'openai', aiBaseUrl: null, aiModel: null, version: 0 },
    now: 0,
    parts: (changed = {}) => ({
      settings: async () => used.settings,
      readKey: async () => key,
      outbound,
      runtime: { ...systemRuntime, now: () => used.now, monotonicMs: () => used.now, random: () => 0 },
      limits: { ...limits, ...changed },
      onTokens() {},
    }),
    open(changed) {
      const detect = openaiDetection(used.parts(changed));
      return (one = {}, signal = never) => detect({ ...request, ...one }, signal);
    },
  };
  beforeAll(async () => {
    used.model = await startStubModel();
  });
  beforeEach(() => {
    used.model.requests = [];
    used.model.respond = answering({});
    used.settings = { aiProvider: 'openai', aiBaseUrl: used.model.url, aiModel: 'stub-1', version: 1 };
    used.now = 1_700_000_000_000;
  });
  afterAll(async () => {
    await outbound.close();
    await used.model.stop();
  });
  return used;
}

/** The reason of a failure, or `none`. */
export function readReason(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error) => error.reason,
  );
}

/** Responds with an error. */
export function failing(status: number, headers: object = {}): StubModel['respond'] {
  return (_, response) => sendJson(response, { error: { message: 'no' } }, status, headers);
}
