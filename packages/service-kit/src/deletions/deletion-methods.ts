import { type DescMethod, fromJson, type Message } from '@bufbuild/protobuf';
import { fieldNamed, readAccessRule, readAuditRule, readRestRule } from '@ticketing/rest/codec/options.ts';
import type { AuditedChange } from '@ticketing/store/audit/audit-chain.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import { valueIn } from '../call/request-fields.ts';

/** A method of a service that deletes something. */
export interface DeletionMethod {
  method: DescMethod;
  /** The name in entries of the audit log, such as "ticketing.settings.v1.WebhookService.DeleteWebhook". */
  name: string;
  /** Whether an entry of the method is a deletion: of some methods only one that sets a certain value. */
  isDeletion(change: Pick<AuditedChange, 'fields'>): boolean;
  /** Makes the request again from the ids of an entry. Errors: they are not the ids of such a request. */
  requestFor(ids: readonly string[]): Message;
}

/**
 * Lists the methods with which something is deleted in a service: each DELETE, each method that deletes by a value of a
 * field, and the shares of this service in the deletions of others. All are audited, and the ids of an entry are enough
 * to make the request again.
 *
 * Source: docs/decisions/0058-what-is-deleted-again.md.
 */
export function deletionMethods({ contracts }: Pick<ServiceEntry, 'contracts'>): DeletionMethod[] {
  return contracts.flatMap((contract) => contract.methods.flatMap((method) => deletionMethod(method) ?? []));
}

function deletionMethod(method: DescMethod): DeletionMethod | undefined {
  const rule = readAuditRule(method);
  if (!rule) return undefined;
  const { input } = method;
  const deleting = rule.deletesBy === '' ? undefined : valueIn(input, rule.deletesBy);
  const isShare = readAccessRule(method)?.case === 'service';
  if (!deleting && !isShare && readRestRule(method)?.method !== 'DELETE') return undefined;
  const idNames = rule.ids.map((name) => fieldNamed(input, name).jsonName);
  const value = deleting && { [deleting.field.jsonName]: deleting.value, updateMask: deleting.field.jsonName };
  return {
    method,
    name: `${method.parent.typeName}.${method.name}`,
    isDeletion: ({ fields }) => !deleting || fields.includes(rule.deletesBy),
    requestFor(ids) {
      if (ids.length !== idNames.length) throw new Error(`"${ids.join(' ')}" are not the ids of ${method.name}.`);
      const named = Object.fromEntries(idNames.map((name, index) => [name, ids[index] ?? '']));
      return fromJson(input, { ...named, ...value });
    },
  };
}
