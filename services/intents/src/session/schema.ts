import { type Connection, type Model, Schema } from 'mongoose';
import type { SessionState } from './rules.ts';

/** The document of a session. */
export interface SessionDocument extends Omit<SessionState, 'id'> {
  _id: string;
  /** The approximate size in responses, in bytes. */
  bytes: number;
}

const schema = new Schema(
  {
    _id: String,
    ticketId: Number,
    lastActivityAt: Number,
    createdAt: Number,
    participants: [Schema.Types.Mixed],
    messageCount: Number,
    costUsd: Number,
    model: String,
    bytes: Number,
  },
  { versionKey: false, strict: 'throw', minimize: false, collection: 'sessions' },
);
schema.index({ ticketId: 1, lastActivityAt: -1, _id: 1 });
schema.index({ lastActivityAt: -1, _id: 1 });

/** The model of the sessions on a connection. */
export function sessionModel(connection: Connection): Model<SessionDocument> {
  return connection.model<SessionDocument>('Session', schema as unknown as Schema<SessionDocument>);
}

/** Converts a session to its document. */
export function documentOf({ id, ...state }: SessionState): SessionDocument {
  return { _id: id, ...state, bytes: Buffer.byteLength(JSON.stringify(state)) };
}

/** A stored session. */
export function stateOf({ _id, bytes: _bytes, ...state }: SessionDocument): SessionState {
  return { id: _id, ...state };
}
