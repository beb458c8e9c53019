import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { eventHeader } from '../event-header.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import type { TagStore } from '../tag/store.ts';
import type { ChangePlan } from './commit.ts';
import { followCustomer } from './refresh-customer.ts';
import { decidePatch, type TicketPatch } from './rules/patch.ts';
import { noSla, type SlaRules } from './rules/sla.ts';

/** The request that a PATCH is part of. Units: `now` in Unix seconds. */
export interface PatchRequest {
  caller: Caller;
  traceparent: string;
  now: number;
  includeInWorklog: boolean;
  /** With the tags as they are when the request is applied. */
  sla: SlaRules;
  /** Throws if `If-Match` does not allow the version of the ticket. */
  requireVersion?: (version: number) => void;
}

/** Plans a PATCH of a ticket. Errors of the plan: what `requireVersion` throws. */
export function planPatch(
  { customers, runtime }: { customers: CustomerDirectory; runtime: Runtime },
  ticketId: number,
  patch: TicketPatch,
  { caller, traceparent, now, includeInWorklog, sla, requireVersion }: PatchRequest,
): ChangePlan {
  const author = { profileId: caller.profileId, isHuman: isHuman(caller) };
  return {
    ticketId,
    identify: followCustomer(customers, patch.input, author.isHuman),
    decide(stored, identified) {
      requireVersion?.(stored.ticket.version);
      const header = eventHeader({ runtime }, caller, traceparent);
      const input = { ...identified, ...patch.input };
      return decidePatch(stored, { ...patch, input }, { author, now, includeInWorklog, sla, header });
    },
  };
}

/** Reads the rules of deadlines. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(
  deps: { settings: ReadSettings; tags: Pick<TagStore, 'tree'> },
  setsTags: boolean,
): Promise<SlaRules> {
  return setsTags ? slaRulesWith(deps, await deps.tags.tree()) : noSla;
}

/** Reads the rules of deadlines, with tags that were read before. */
export async function slaRulesWith({ settings }: { settings: ReadSettings }, tree: TagTree): Promise<SlaRules> {
  const { businessTime } = await settings();
  return { businessTime, findTag: tree.get };
}
