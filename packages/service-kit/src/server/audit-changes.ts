import { type DescField, type DescMessage, type DescMethod, isMessage, type Message } from '@bufbuild/protobuf';
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import type { AuditRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { beforeChange, mayFollowChange } from '@ticketing/errors/domain-error.ts';
import { auditRuleOf, fieldNamed, spellingsOf } from '@ticketing/rest/options.ts';
import type { ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { AuditLog } from '@ticketing/store/audit/audit-log.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { Call } from './call.ts';

/** Whether a service has an audit log: it has a method whose contract says that its changes are recorded. */
export function isAudited({ contracts }: Pick<ServiceEntry, 'contracts'>): boolean {
  return contracts.some(({ methods }) => methods.some((method) => auditRuleOf(method) !== undefined));
}

/**
 * Makes the handlers of every method whose contract has an audit rule record their changes in the audit log, for REST and
 * RPC: before the handler is called, and again when it has ended.
 *
 * Errors: store_unavailable, before anything is changed. If the end cannot be recorded, the change stays made, and its entry
 * says that this is unknown.
 * Source: docs/decisions/0054-who-changed-what.md.
 */
export function auditChanges(
  implementations: readonly ServiceImplementation<Call>[],
  log: RecordChanges,
): ServiceImplementation<Call>[] {
  return implementations.map(({ handlers, ...rest }) => ({
    ...rest,
    handlers: new Map(
      [...handlers].map(([method, handler]) => {
        const rule = auditRuleOf(method);
        return [method, rule ? audited(method, rule, handler, log) : handler];
      }),
    ),
  }));
}

/** The part of an audit log with which changes are recorded. */
type RecordChanges = Pick<AuditLog, 'begin' | 'complete' | 'discard'>;

type Handler = (call: Call, request: Message) => Promise<Message>;

function audited(method: DescMethod, rule: AuditRule, handler: Handler, log: RecordChanges): Handler {
  const idsOf = rule.ids.map((path) => idReader(method.input, path));
  const createdIdOf = rule.createdId === '' ? undefined : idReader(method.output, rule.createdId);
  const fieldsOf = fieldReader(method.input, rule.deletesBy);
  return async (call, request) => {
    const { kind, profileId, service } = call.caller;
    const change = {
      actor: { kind, id: String(profileId ?? service) },
      method: `${method.parent.typeName}.${method.name}`,
      subject: { kind: rule.subject, ids: idsOf.flatMap((read) => read(request)) },
      fields: fieldsOf(request),
      traceId: call.trace.traceId,
    };
    const id = await log.begin(change).catch((error: unknown) => {
      throw beforeChange(error);
    });
    const record = (write: Promise<void>) =>
      write.catch((error: unknown) =>
        call.log.warn({ err: error, changeId: id }, 'the end of a change is not recorded'),
      );
    let response: Message;
    try {
      response = await handler(call, request);
    } catch (error) {
      if (!mayFollowChange(error)) await record(log.discard(id));
      throw error;
    }
    await record(log.complete(id, createdIdOf?.(response) ?? []));
    return response;
  };
}

/** What an id may look like. Names of settings come from the request before anybody has looked whether there are such. */
const idPattern = /^[\w.-]{1,64}$/;

/** Reads the ids at a path of a message: one, or one of each item of a list. Errors: a path that the message has not. */
function idReader(message: DescMessage, path: string): (from: Message) => string[] {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = message;
  for (const name of path.split('.')) {
    if (!at) throw new Error(`${message.typeName} has no ${path}`);
    const field: DescField = fieldNamed(at, name);
    fields.push(field);
    at = field.message;
  }
  return (from) => {
    const values = fields.reduce<unknown[]>(
      (all, { localName }) => all.flatMap((value) => partsOf(value, localName)),
      [from],
    );
    return values.map(String).filter((id) => idPattern.test(id));
  };
}

/** The value of a field of a message, the items of a list, or nothing. */
function partsOf(message: unknown, field: string): unknown {
  const value: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, field) : undefined;
  return value ?? [];
}

/**
 * Reads the names of the fields that a request sets, of those that it has, each once: a mask may repeat one without end. The
 * field by whose value a request deletes is named with this value.
 */
export function fieldReader(message: DescMessage, deletesBy: string): (request: Message) => string[] {
  const mask = message.fields.find((field) => field.message?.typeName === 'google.protobuf.FieldMask');
  const names = new Set(message.fields.map(({ name }) => name));
  if (!mask) return () => [];
  const deleting = deletesBy === '' ? undefined : valueIn(message, deletesBy);
  return (request) => {
    const value = partsOf(request, mask.localName);
    const paths = isMessage(value, FieldMaskSchema) ? [...new Set(value.paths)].filter((path) => names.has(path)) : [];
    const deletes = deleting !== undefined && partsOf(request, deleting.field.localName) === deleting.value;
    return paths.map((path) => (deletes && path === deleting.field.name ? deletesBy : path));
  };
}

/** The field and the number of the value in a text such as "status=deleted". Errors: there is no such field or value. */
export function valueIn(message: DescMessage, text: string): { field: DescField; value: number } {
  const [name = '', spelling] = text.split('=');
  const field = fieldNamed(message, name);
  const [value] = [...(field.enum ? spellingsOf(field.enum) : [])].find(([, known]) => known === spelling) ?? [];
  if (value === undefined) throw new Error(`${message.typeName} has no ${text}`);
  return { field, value };
}
