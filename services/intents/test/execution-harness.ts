import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfidenceColor } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { IntentProposal } from '../src/intent/rules/intent.ts';
import { type IntentsHarness, startHarness } from './harness.ts';

/** A request that the backend system has received. */
export interface BackendRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A backend system that logs its requests. */
export interface Backend {
  url: string;
  requests: BackendRequest[];
  /** Sends its response; by default 200 with `{}`. */
  respond(request: BackendRequest, response: ServerResponse): void;
}

/** A running intents service with everything that it calls. */
export interface ExecutionHarness extends IntentsHarness {
  backend: Backend;
  /** Does work while the time passes for which calls wait for others, which otherwise stands still. */
  whileTimePasses<Result>(work: Promise<Result>): Promise<Result>;
  /** Creates an AI agent that calls the backend system, and an intent of it; returns its id. */
  intent(agent?: object, proposal?: Partial<IntentProposal>): Promise<number>;
  execute(id: number, body?: object): Promise<{ status: number; json: Record<string, unknown> & { code?: string } }>;
}

/** Starts an intents service for one test file. */
export async function startExecutionHarness(roles = 'api'): Promise<ExecutionHarness> {
  const { backend, server } = await startBackend();
  const variables = { ROLES: roles, OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_REQUIRE_HTTPS: 'false' };
  let passedMs = 0;
  const runtime = { ...systemRuntime, monotonicMs: () => passedMs };
  const harness = await startHarness({ variables, runtime });
  const { intents, manage, agent, ticket } = harness;
  return {
    ...harness,
    backend,
    whileTimePasses(work) {
      const passing = setInterval(() => {
        passedMs += 1_000;
      }, 20);
      return work.finally(() => clearInterval(passing));
    },
    async intent(body = {}, proposal = {}) {
      const executor = { type: 'http', url: `${backend.url}/do` };
      const aiAgentId = await agent({ name: 'Meter reading', executor, ...body });
      const { slug: code, name, options } = (await manage('GET', `/aiAgent/${aiAgentId}`)).json;
      const { autoExecuteAt = null } = proposal;
      const { id: ticketId } = ticket(autoExecuteAt === null ? {} : { autoExecuteAt: toTimestamp(autoExecuteAt) });
      const proposed: IntentProposal = {
        ...{ aiAgentId, code, name, options, contractId: 'V-1', data: { reading: 5 }, infos: [] },
        ...{ confidence: 0.9, confidenceColor: ConfidenceColor.SUCCESS, messagePreview: null, recipient: null },
        autoExecuteAt,
        ...proposal,
      };
      await intents.propose([{ ticketId, proposals: [proposed] }]);
      return (await intents.ofTicket(ticketId))[0]?.id ?? 0;
    },
    execute: (id, body = {}) => harness.request('POST', `/intent/${id}/execute`, { body }),
    async stop() {
      await harness.stop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function startBackend(): Promise<{ backend: Backend; server: Server }> {
  const backend: Backend = { url: '', requests: [], respond: (_, response) => response.end('{}') };
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const received = { method, path: url, headers, body: Buffer.concat(await request.toArray()).toString('utf8') };
    backend.requests.push(received);
    backend.respond(received, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  backend.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { backend, server };
}
