/** The newest model, as far as the next training depends on it. Units: Unix ms. */
export interface LearnedModel {
  /** The time at which its examples were read. */
  trainedAt: number;
  /** The duration of the training. */
  durationMs: number;
  /** The number of erasures of examples before it was learned. */
  erasures: number;
}

/** The changes from which the next model would be learned. */
export interface TrainingMaterial {
  /** The number of examples that are new or have changed since the newest model. */
  changed: number;
  /** The number of erasures of examples, ever. */
  erasures: number;
}

/** The number of examples from which the first model is learned: a label needs ten with it, and ten without it. */
export const minExamples = 20;
/** The number of changes after which a model is learned soon. */
export const minChanges = 20;
/** The age at which a model is learned again after fewer changes: an erased ticket leaves it within this time. */
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
