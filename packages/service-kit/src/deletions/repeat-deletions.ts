import type { DescMethod, Message } from '@bufbuild/protobuf';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Print } from '@ticketing/events/dead-letters/operations.ts';
import type { ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { Call } from '../server/call.ts';
import { deletionMethods } from './deletion-methods.ts';
import type { ServiceLedger } from './ledger-file.ts';

/** What deletions are repeated with. */
export interface Repetition {
  entry: ServiceEntry;
  /** The handlers of the service. The last one of a method counts. */
  implementations: readonly ServiceImplementation<Call>[];
  /** On whose behalf: the service itself. */
  call: Call;
}

interface Deletion {
  name: string;
  ids: string;
  repeat(): Promise<unknown>;
}

/**
 * Makes the deletions of a ledger again, of what a restored backup has brought back. What is not there is deleted already.
 * Prints how many were made again, and each that could not be, and returns how many those are.
 *
 * Errors: deletions that the service does not know.
 */
export async function repeatDeletions(repetition: Repetition, ledger: ServiceLedger, print: Print): Promise<number> {
  let left = deletionsOf(repetition, ledger);
  let repeated = 0;
  for (;;) {
    const refused: { deletion: Deletion; error: DomainError }[] = [];
    for (const deletion of left) {
      const error = await deletion.repeat().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) repeated += 1;
      else if (!(error instanceof DomainError)) throw error;
      else if (error.code !== 'not_found') refused.push({ deletion, error });
    }
    // One that was refused may depend on another one, as that of a tag on those of its children.
    if (refused.length > 0 && refused.length < left.length) {
      left = refused.map(({ deletion }) => deletion);
      continue;
    }
    print(`${repetition.entry.name}: ${repeated} deletions were made again`);
    for (const { deletion, error } of refused) {
      print(`${repetition.entry.name}: ${deletion.name} of ${deletion.ids} could not be made again: ${error.message}`);
    }
    return refused.length;
  }
}

function deletionsOf({ entry, implementations, call }: Repetition, { deleted }: ServiceLedger): Deletion[] {
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
