import { childTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { mongo } from 'mongoose';

/** A command that was sent and has no response yet. */
interface SentCommand {
  trace: Trace;
  collection: string;
}

/**
 * Records a span of each command that is sent as a part of a trace: its name and its collection, never its content.
 * Commands of background work belong to no trace, and are not recorded.
 */
export function recordCommands(client: mongo.MongoClient, tracer: Tracer): void {
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
  client.on('commandStarted', ({ requestId, commandName, command }) => {
    const parent = tracer.current();
    if (!parent || !tracer.isSampled(parent)) return;
    const target: unknown = commandName === 'getMore' ? command.collection : command[commandName];
    sent.set(requestId, { trace: childTrace(parent), collection: typeof target === 'string' ? target : '' });
  });
  client.on('commandSucceeded', (event) => end(event));
  client.on('commandFailed', (event) => end(event, event.failure.name));
}

type EndedCommand = Pick<mongo.CommandSucceededEvent, 'requestId' | 'commandName' | 'duration'>;
