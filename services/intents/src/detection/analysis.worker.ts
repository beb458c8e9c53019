import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { extractFeatures, featuresToBytes } from '../learning/features.ts';
import { emptyModel } from '../learning/model.ts';
import { parseModel } from '../learning/model-codec.ts';
import type { TicketText } from '../learning/ticket-text.ts';
import { type Analysis, analyse } from './analyse-text.ts';

let model = emptyModel();
/** The version of the model; 0: it has learned nothing. */
let loaded = 0;

const functions = {
  /** Analyses with this version of the model, or a newer one; null if this process does not have it. */
  analyse: (text: TicketText, keywords: readonly string[], version: number): Analysis | null =>
    loaded < version ? null : analyse(text, model, keywords),
  /** Uses a model from now on. Fails if the bytes are no model. */
  load(version: number, bytes: Uint8Array): void {
    model = parseModel(bytes);
    loaded = version;
  },
  extractFeatures: (text: TicketText): Uint8Array => featuresToBytes(extractFeatures(text)),
};

/** The functions of the worker, which process texts of tickets. */
export type AnalysisFunctions = typeof functions;

serveFunctions(functions);
