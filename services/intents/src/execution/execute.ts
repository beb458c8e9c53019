import type {
  ExecuteIntentRequest,
  ExecuteIntentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import type { IntentOutcome } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { awaitExecution, knownOutcome, running } from './await.ts';
import { beginExecution } from './begin.ts';
import { type ExecutionPlan, findIntent, planExecution } from './plan.ts';
import { simulateExecution } from './simulate.ts';

/**
 * A call that has waited some seconds for an execution that failed or never began tries its own, up to this many times.
 */
const maxAttempts = 5;

/**
 * Executes an intent once: later calls get the stored outcome.
 *
 * Errors: intent_running; those of `findIntent`, `planExecution` and `runExecution`.
 * Source: docs/reference/api.md, Execution of an intent.
 */
export async function executeIntent(
  context: Context,
  call: Call,
  request: ExecuteIntentRequest,
): Promise<ExecuteIntentResponse> {
  const outcome = await outcomeFor(context, call, request);
  call.idempotency?.addSubject({ kind: 'Ticket', id: outcome.ticketId });
  return { $typeName: 'ticketing.intents.v1.ExecuteIntentResponse', outcome: outcome.outcome };
}

/** An outcome, and its ticket. */
interface TicketOutcome {
  ticketId: number;
  outcome: IntentOutcome;
}

async function outcomeFor(context: Context, call: Call, request: ExecuteIntentRequest): Promise<TicketOutcome> {
  let known = (await findIntent(context, request)) ?? (await reservedIntent(context, call));
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const done = known && knownOutcome(known);
    if (known && done) return { ticketId: known.ticketId, outcome: done };
    if (known?.execution && request.dryRun) throw running();
    if (known?.execution) {
      const outcome = await awaitExecution(context, { id: known.id, txId: known.execution.txId });
      if (outcome) return { ticketId: known.ticketId, outcome };
    } else {
      const plan = await planExecution(context, call, request, known);
      const { ticketId } = plan.intent;
      if (request.dryRun) {
        const outcome = await simulateExecution(context, call, plan);
        const { txId, responseCode } = outcome;
        context.log.info({ txId, intentId: plan.intent.id, ticketId, responseCode }, 'execution simulated');
        return { ticketId, outcome };
      }
      known ??= await created(context, call, plan);
      const outcome = await beginExecution(context, call, { ...plan, intent: known });
      if (outcome) return { ticketId, outcome };
    }
    known = await context.intents.find(known.id);
    if (!known) throw notFound('Intent');
  }
  throw running();
}

/**
 * Finds the intent that an earlier attempt of this request has created. It is looked for before anything is checked,
 * because its execution may have called a backend: a refusal would forget the key, and the next attempt would call it
 * again.
 */
async function reservedIntent({ intents }: Context, { idempotency }: Call): Promise<IntentState | undefined> {
  const id = idempotency?.reserved('intent');
  return id === undefined ? undefined : await intents.find(id);
}

/** Creates the intent of a plan, once for an idempotency key. Errors: ticket_not_found. */
async function created(context: Context, call: Call, { intent }: ExecutionPlan): Promise<IntentState> {
  const { intents, intentIds, deleted } = context;
  const next = () => intentIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('intent', next) : await next();
  await intents.add({ ...intent, id });
  // The erasure of a ticket that was deleted meanwhile has not seen this intent.
  const erased = await deleted.tickets.among([intent.ticketId]);
  await intents.erase([...erased]);
  const added = await intents.find(id);
  if (added) return added;
  throw erased.size > 0 ? notFound('Ticket') : new DomainError('internal', 'internal', 'Internal error');
}
