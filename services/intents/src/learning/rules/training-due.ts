/** The newest model, as far as the next training depends on it. Units: Unix ms. */
export interface LearnedModel {
  /** When its examples were read. */
  trainedAt: number;
  /** How long the training took. */
  durationMs: number;
  /** How many erasures of examples it does not know of any more. */
  erasures: number;
}

/** What there is to learn from. */
export interface TrainingMaterial {
  /** Those that have changed since the newest model, or are new. */
  changed: number;
  /** How many erasures of examples there were, ever. */
  erasures: number;
}

/** The first model is learned from so many examples: a label needs ten with it, and ten without it. */
export const minExamples = 20;
/** So many changes are learned soon. */
export const minChanges = 20;
/** With less, the model is learned again when it is so old: an erased ticket leaves it within this time. */
export const maxAgeMs = 6 * 3_600_000;
const minPauseMs = 10 * 60_000;
/** Training takes at most a twentieth of the time of a processor. */
const pausePerDuration = 20;

/**
 * Whether the next model is to be learned now.
 *
 * Units: `now` in Unix ms. Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function isTrainingDue(model: LearnedModel, material: TrainingMaterial, now: number): boolean {
  const ageMs = now - model.trainedAt;
  if (ageMs < Math.min(maxAgeMs, Math.max(minPauseMs, pausePerDuration * model.durationMs))) return false;
  if (material.changed >= minChanges) return true;
  return ageMs >= maxAgeMs && (material.changed > 0 || material.erasures > model.erasures);
}
