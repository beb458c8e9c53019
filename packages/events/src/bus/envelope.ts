import type { IncomingMessage, OutgoingMessage } from './bus.ts';

/**
 * The attributes of an event in addition to its content: CloudEvents 1.0, sent as headers (binary mode).
 *
 * Units: `time` in Unix seconds.
 * Source: docs/reference/api.md, Events; CloudEvents 1.0, Kafka protocol binding.
 */
export interface Envelope {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: number;
  /** The trace of the request that caused the event. */
  traceparent?: string | undefined;
}

/** An event as a consumer receives it. */
export interface ReceivedEvent extends Envelope {
  topic: string;
  key: string;
  value: Uint8Array;
}

/** Makes the message of an event. Messages of one key keep their order. */
export function eventMessage(key: string, envelope: Envelope, value: Uint8Array): OutgoingMessage {
  const { id, type, source, subject, time, traceparent } = envelope;
  return {
    key,
    value,
    headers: {
      ce_specversion: '1.0',
      ce_id: id,
      ce_type: type,
      ce_source: source,
      ce_subject: subject,
      ce_time: `${new Date(time * 1000).toISOString().slice(0, 19)}Z`,
      'content-type': 'application/protobuf',
      ...(traceparent === undefined ? {} : { traceparent }),
    },
  };
}

/** Reads the event of a message. Errors: an Error if a header is missing or malformed. */
export function receivedEvent({
  topic,
  key,
  value,
  headers,
}: Omit<IncomingMessage, 'partition' | 'offset'>): ReceivedEvent {
  const header = (name: string) => {
    const text = headers[name];
    if (text === undefined) throw new Error(`A message on ${topic} has no header ${name}.`);
    return text;
  };
  const time = Date.parse(header('ce_time')) / 1000;
  if (Number.isNaN(time)) throw new Error(`A message on ${topic} has the time ${header('ce_time')}.`);
  return {
    topic,
    key,
    value,
    id: header('ce_id'),
    type: header('ce_type'),
    source: header('ce_source'),
    subject: header('ce_subject'),
    time,
    traceparent: headers.traceparent,
  };
}
