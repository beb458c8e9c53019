import type { DescMethod, Message } from '@bufbuild/protobuf';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Print } from '@ticketing/events/operations.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { Call } from '../call/call.ts';
import { deletionMethods } from './deletion-methods.ts';
import type { ServiceLedger } from './ledger-file.ts';

/** The parts of a service with which deletions are repeated. */
export interface Repetition {
  entry: ServiceEntry;
  /** The handlers of the service. The last one of a method counts. */
  implementations: readonly ServiceImplementation<Call>[];
  /** A call of the service on its own behalf. */
  call: Call;
  /** The deletions that the restored backup knows: the ids of each deletion, joined by spaces, by method. */
  deleted: Readonly<Record<string, readonly string[]>>;
}

interface Deletion {
  name: string;
  ids: string;
  repeat(): Promise<unknown>;
}

/**
 * Makes the deletions of a ledger again, because a restored backup brings deleted data back. Prints how many were made
 * again, how many had happened before the backup or have nothing left to delete, and each that could not be made;
 * returns the number of the latter.
 *
 * Errors: deletions that the service does not know.
 */
export async function repeatDeletions(repetition: Repetition, ledger: ServiceLedger, print: Print): Promise<number> {
  let left = listLedgerDeletions(repetition, ledger);
  const known = new Map(Object.entries(repetition.deleted).map(([name, ids]) => [name, new Set(ids)]));
  let repeated = 0;
  let gone = 0;
  for (;;) {
    const refused: { deletion: Deletion; error: DomainError }[] = [];
    for (const deletion of left) {
      const error = await deletion.repeat().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined && !(error instanceof DomainError)) throw error;
      // Some handlers succeed although there is nothing to delete.
      if (error?.code === 'not_found' || (!error && known.get(deletion.name)?.has(deletion.ids))) gone += 1;
      else if (error) refused.push({ deletion, error });
      else repeated += 1;
    }
    // A refused deletion may depend on another one, as the deletion of a tag on those of its children.
    if (refused.length > 0 && refused.length < left.length) {
      left = refused.map(({ deletion }) => deletion);
      continue;
    }
    print(`${repetition.entry.name}: ${repeated} deletions were made again, ${gone} had happened before`);
    for (const { deletion, error } of refused) {
      print(`${repetition.entry.name}: ${deletion.name} of ${deletion.ids} could not be made again: ${error.message}`);
    }
    return refused.length;
  }
}

function listLedgerDeletions({ entry, implementations, call }: Repetition, { deleted }: ServiceLedger): Deletion[] {
  const methods = new Map(deletionMethods(entry).map((method) => [method.name, method]));
  const handlers = new Map<DescMethod, (call: Call, request: Message) => Promise<Message>>(
    implementations.flatMap(({ handlers: some }) => [...some]),
  );
  return [...deleted].flatMap(([name, all]) => {
    const known = methods.get(name);
    const handler = known && handlers.get(known.method);
    if (!handler) throw new Error(`The ${entry.name} service has no method ${name} that deletes something.`);
    return [...all].map((ids) => ({ name, ids, repeat: () => handler(call, known.requestFor(ids.split(' '))) }));
  });
}
