import type {
  RecordHistoryEntryRequest,
  RecordHistoryEntryResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { HistoryEntryType } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { HistoryStore } from './store.ts';

interface RecordDeps {
  history: Pick<HistoryStore, 'record'>;
  historyEntryIds: Pick<IdSequence, 'next'>;
  runtime: Runtime;
}

/**
 * Records an entry of the history of a customer or a contract. A known external id replaces its entry.
 *
 * Errors: not_allowed for a ticket, required without a customer and a contract, invalid_format for a URL that is no web page. Source: docs/reference/api.md, History.
 */
export async function recordHistoryEntry(
  { history, historyEntryIds, runtime }: RecordDeps,
  _call: Call,
  request: RecordHistoryEntryRequest,
): Promise<RecordHistoryEntryResponse> {
  const violations = findViolations(request);
  if (violations.length > 0) throw invalidInput(violations);
  const { externalId = '', type = HistoryEntryType.UNSPECIFIED, createdAt } = request;
  const entry = {
    externalId,
    type,
    customerId: request.customerId ?? null,
    contractId: request.contractId ?? null,
    subChannel: request.subChannel ?? null,
    subject: request.subject ?? null,
    url: request.url ?? null,
    createdAt: createdAt && Number(createdAt.seconds),
  };
  const id = await history.record(entry, secondsNow(runtime), () => historyEntryIds.next());
  return { $typeName: 'ticketing.tickets.v1.RecordHistoryEntryResponse', id };
}

function findViolations({ type, customerId, contractId, url }: RecordHistoryEntryRequest): Violation[] {
  const violations: Violation[] = [];
  if (type === HistoryEntryType.TICKET) {
    violations.push({ pointer: '#/type', code: 'not_allowed', detail: 'tickets are in the history by themselves' });
  }
  if (customerId === undefined && contractId === undefined) {
    violations.push({ pointer: '#/customerId', code: 'required', detail: 'is required without a contractId' });
  }
  if (url !== undefined && !isWebPage(url)) {
    violations.push({
      pointer: '#/url',
      code: 'invalid_format',
      detail: 'must be an http or https URL without a user',
    });
  }
  return violations;
}

/** Whether a client may open a URL as a link: others could run a script there. */
function isWebPage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
