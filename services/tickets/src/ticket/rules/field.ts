import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { formatRfc3339, toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';

/**
 * One field of a ticket: its value in memory is a `Value`, and it has other forms in the document, message and event.
 */
export interface Field<Value> {
  /** The type of the field in the document, as a constructor: `String`, `[Number]`. */
  type: unknown;
  /** The default value. */
  initial: Value;
  store(value: Value): unknown;
  load(stored: never): Value;
  toMessage(value: Value): unknown;
  fromMessage(value: never): Value;
  /** The value in an event; undefined for texts and objects: an event contains only the name of such a field. */
  toEvent: ((value: Value) => JsonValue) | undefined;
}

/**
 * A field whose value is the same everywhere; without a value it is null in memory and document, absent in the message.
 */
export function plain<Value>(type: unknown, initial: Value, inEvents: boolean): Field<Value> {
  return {
    type,
    initial,
    store: (value) => value,
    load: (stored) => (stored as Value | undefined) ?? initial,
    toMessage: (value) => value ?? undefined,
    fromMessage: (value) => value as Value,
    toEvent: inEvents ? (value) => value as JsonValue : undefined,
  };
}

/** A text. */
export const text = () => plain<string | null>(String, null, false);
/** A list of texts. */
export const texts = () => plain<readonly string[]>([String], [], false);
/** An id that this system has assigned. */
export const id = () => plain<number | null>(Number, null, true);
/** A list of such ids. */
export const ids = () => plain<readonly number[]>([Number], [], true);
/** An id that another system has assigned. It may identify a person, so it is erased from events with the ticket. */
export const textId = () => plain<string | null>(String, null, true);
/** A whole number. */
export const integer = (initial: number) => plain<number>(Number, initial, true);

/** True or false. */
export const flag = () => plain<boolean>(Boolean, false, true);

/** A value of any shape that is the same in memory and document, and never in events. */
export const mixed = <Value>(initial: Value) => plain<Value>(Object, initial, false);

/** A time: Unix seconds in memory, a date in the document. */
export function time(): Field<number | null> {
  return {
    type: Date,
    initial: null,
    store: (value) => (value === null ? null : new Date(value * 1000)),
    load: (stored: Date | null | undefined) => (stored ? stored.getTime() / 1000 : null),
    toMessage: (value) => (value === null ? undefined : toTimestamp(value)),
    fromMessage: (value: Timestamp) => Number(value.seconds),
    toEvent: (value) => (value === null ? null : formatRfc3339(value)),
  };
}

/** An enum that is stored in the spelling of the API. */
export function enumText<Value extends number | null>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = readSpellings(schema);
  const numbers = new Map([...spellings].map(([number, spelling]) => [spelling, number]));
  const spell = (value: Value) => (value === null ? null : (spellings.get(value) ?? null));
  return {
    ...plain<Value>(String, initial, true),
    store: spell,
    load: (stored) => (numbers.get(stored) ?? initial) as Value,
    toEvent: spell,
  };
}

/** An enum that is stored as its number, because it is sorted by rank. */
export function enumRank<Value extends number>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = readSpellings(schema);
  return { ...plain<Value>(Number, initial, true), toEvent: (value) => spellings.get(value) ?? null };
}

/** An object of any shape. It is stored as JSON text, because it may have any keys and no query reads it. */
export function json(): Field<string | null> {
  return {
    ...plain<string | null>(String, null, false),
    toMessage: (value) => (value === null ? undefined : (JSON.parse(value) as JsonObject)),
    fromMessage: (value: JsonObject) => JSON.stringify(value),
  };
}
