import type { JsonObject } from '@bufbuild/protobuf';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { OutboundRequest } from '@ticketing/outbound/outbound-request.ts';
import { signatureHeaders } from '@ticketing/outbound/signature-headers.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import type { AiAgentState } from '../agent/rules/agent.ts';
import { type HttpExecutorState, headerBinding, signatureBinding } from '../agent/rules/http-executor.ts';
import type { ExecutionState } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { type ActionResult, failedRequest, maxResponseBytes, readBackendResponse } from './rules/backend-response.ts';

/** The execution for which a backend system is called. */
export interface BackendCall {
  agent: AiAgentState;
  executor: HttpExecutorState;
  intent: Pick<IntentState, 'id' | 'code' | 'name' | 'contractId'>;
  ticket: Ticket;
  execution: ExecutionState;
}

/** Calls the backend system once, and always returns a result. */
export type CallBackend = () => Promise<ActionResult>;

/** The backend systems of AI agents. */
export interface Backend {
  /**
   * Prepares the request to a backend system, so that its errors occur before the execution begins.
   *
   * Errors: an Error if a secret cannot be decrypted. Source: docs/reference/api.md, Execution of an intent.
   */
  prepare(call: BackendCall): CallBackend;
  /** Returns why a URL may not be called, if it may not. */
  checkUrl: OutboundGuard['checkUrl'];
}

interface BackendParts {
  outbound: OutboundGuard;
  secretBox: SecretBox;
  runtime: Pick<Runtime, 'now'>;
  log: Logger;
}

/** Opens the backend systems. */
export function openBackend(parts: BackendParts): Backend {
  const { outbound, log } = parts;
  return {
    prepare(call) {
      const request = buildRequest(parts, call);
      return async () => {
        try {
          return readBackendResponse(await outbound.request(request), call.executor.responseMapping);
        } catch (error) {
          if (error instanceof OutboundError) return failedRequest(error.kind, wasSent(error));
          log.error({ err: error, txId: call.execution.txId }, 'the call of a backend system has failed');
          return failedRequest('internal', true);
        }
      };
    },
    checkUrl: (url) => outbound.checkUrl(url),
  };
}

/** Errors of requests of which nothing can have been sent. */
const unsent = new Set(['request_refused', 'address_refused', 'resolve_failed', 'connect_failed', 'tls_failed']);

function wasSent({ kind, code, address }: OutboundError): boolean {
  // Without an address no connection was open when the time was over.
  return kind === 'timeout' ? code === undefined && address !== undefined : !unsent.has(kind);
}

function buildRequest(
  { secretBox, runtime }: BackendParts,
  { agent, executor, ...call }: BackendCall,
): OutboundRequest {
  const { headers, secret, url, method, timeoutMs } = executor;
  const { txId } = call.execution;
  const body = JSON.stringify(buildBody(agent, call));
  const ownHeaders = Object.entries(headers).map(([name, text]) => [
    name.toLowerCase(),
    secretBox.open(text, headerBinding(agent.id, name)),
  ]);
  const secrets = secret === null ? [] : [secretBox.open(secret, signatureBinding(agent.id))];
  return {
    url,
    method: method as OutboundRequest['method'],
    headers: {
      'user-agent': 'ticketing-intents',
      ...Object.fromEntries(ownHeaders),
      'content-type': 'application/json',
      accept: 'application/json',
      // A connection that the other side has just closed would leave open whether the request arrived.
      connection: 'close',
      'idempotency-key': txId,
      ...(secrets.length === 0 ? {} : signatureHeaders(secrets, { id: txId, at: runtime.now(), body })),
    },
    body: Buffer.from(body),
    deadlineMs: timeoutMs,
    maxResponseBytes,
    longResponse: 'cut',
    maxRedirects: 0,
  };
}

function buildBody(
  agent: AiAgentState,
  { intent, ticket, execution }: Omit<BackendCall, 'agent' | 'executor'>,
): JsonObject {
  const { id, code, name, contractId } = intent;
  const { option, data, txId, caller } = execution;
  return {
    intent: { id, code, name, aiAgentId: agent.id, contractId },
    ticket: {
      id: ticket.id,
      externalTicketId: ticket.externalTicketId ?? null,
      contractId: ticket.contractId ?? null,
      customerId: ticket.customerId ?? null,
    },
    option,
    data,
    txId,
    user: caller && { id: caller.profileId, kind: caller.kind },
  };
}
