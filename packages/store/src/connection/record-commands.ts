import { childTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { mongo } from 'mongoose';

/** A command that was sent and has no response yet. */
interface SentCommand {
  trace: Trace;
  collection: string;
}

/**
 * Records a span of each command to a database that is sent as a part of a trace: its name and its collection, never its
 * content. Commands of background work belong to no trace, and are not recorded. Returns the function that ends it.
 */
export function recordCommands(client: mongo.MongoClient, database: string, tracer: Tracer): () => void {
  const sent = new Map<number, SentCommand>();
  const end = ({ requestId, commandName, duration }: EndedCommand, error?: string) => {
    const command = sent.get(requestId);
    if (!command) return;
    sent.delete(requestId);
    const { trace, collection } = command;
    tracer.record({
      trace,
      name: `${commandName} ${collection}`.trim(),
      kind: 'client',
      durationMs: duration,
      error,
      attributes: { 'db.system.name': 'mongodb', 'db.operation.name': commandName, 'db.collection.name': collection },
    });
  };
  const onStarted = ({ requestId, commandName, command, databaseName }: mongo.CommandStartedEvent) => {
    const parent = databaseName === database ? tracer.current() : undefined;
    if (!parent || !tracer.isSampled(parent)) return;
    const target: unknown = commandName === 'getMore' ? command.collection : command[commandName];
    sent.set(requestId, { trace: childTrace(parent), collection: typeof target === 'string' ? target : '' });
  };
  const onSucceeded = (event: mongo.CommandSucceededEvent) => end(event);
  const onFailed = (event: mongo.CommandFailedEvent) => end(event, event.failure.name);
  client.on('commandStarted', onStarted).on('commandSucceeded', onSucceeded).on('commandFailed', onFailed);
  return () => {
    client.off('commandStarted', onStarted).off('commandSucceeded', onSucceeded).off('commandFailed', onFailed);
  };
}

type EndedCommand = Pick<mongo.CommandSucceededEvent, 'requestId' | 'commandName' | 'duration'>;
