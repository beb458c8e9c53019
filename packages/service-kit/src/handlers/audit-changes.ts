import type { DescField, DescMessage, DescMethod, Message } from '@bufbuild/protobuf';
import type { AuditRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { beforeChange, mayFollowChange } from '@ticketing/errors/domain-error.ts';
import { fieldNamed, readAuditRule } from '@ticketing/rest/codec/options.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { AuditLog } from '@ticketing/store/audit/audit-log.ts';
import type { Call } from '../call/call.ts';
import { fieldReader, readParts } from '../call/request-fields.ts';

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
        const rule = readAuditRule(method);
        return [method, rule ? audited(method, rule, handler, log) : handler];
      }),
    ),
  }));
}

/** The part of an audit log with which changes are recorded. */
type RecordChanges = Pick<AuditLog, 'begin' | 'complete' | 'discard'>;

type Handler = (call: Call, request: Message) => Promise<Message>;

function audited(method: DescMethod, rule: AuditRule, handler: Handler, log: RecordChanges): Handler {
  const idReaders = rule.ids.map((path) => idReader(method.input, path));
  const readCreatedId = rule.createdId === '' ? undefined : idReader(method.output, rule.createdId);
  const readFields = fieldReader(method.input, rule.deletesBy);
  return async (call, request) => {
    const { kind, profileId, service } = call.caller;
    const change = {
      actor: { kind, id: String(profileId ?? service) },
      method: `${method.parent.typeName}.${method.name}`,
      subject: { kind: rule.subject, ids: idReaders.flatMap((read) => read(request)) },
      fields: readFields(request),
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
    await record(log.complete(id, readCreatedId?.(response) ?? []));
    return response;
  };
}

/** The form of an id. Names of settings come from the request before anybody has checked that they exist. */
const idPattern = /^[\w.-]{1,64}$/;

/** Reads the ids at a path of a message: one, or one of each item of a list. Errors: a path that the message lacks. */
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
      (all, { localName }) => all.flatMap((value) => readParts(value, localName)),
      [from],
    );
    return values.map(String).filter((id) => idPattern.test(id));
  };
}
