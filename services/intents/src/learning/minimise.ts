/** A smooth convex function of many numbers. */
export interface Objective {
  /** Returns the value at a point, and writes the gradient. */
  at(point: Float64Array, gradient: Float64Array): number;
  /** About how fast each part of the gradient grows with its number, which saves most of the steps. */
  curvature: Float64Array;
}

/** The number of steps that are remembered to estimate the curvature. */
const memory = 6;
const maxSteps = 80;
const maxHalvings = 25;

/** One remembered step: how the point and the gradient changed. */
interface Step {
  move: Float64Array;
  turn: Float64Array;
  /** 1 / (move · turn) */
  scale: number;
}

/**
 * Finds the minimum of a function by L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.5)
 * with a backtracking line search. It ends where the gradient is at most `tolerance` long. It has no randomness.
 */
export function minimise(objective: Objective, start: Float64Array, tolerance: number): Float64Array {
  let point = Float64Array.from(start);
  let gradient = new Float64Array(point.length);
  let value = objective.at(point, gradient);
  const steps: Step[] = [];
  for (let count = 0; count < maxSteps && length(gradient) > tolerance; count += 1) {
    const direction = descent(gradient, steps, objective.curvature);
    const slope = dot(direction, gradient);
    let rate = 1;
    let next: Float64Array<ArrayBuffer>;
    let nextValue: number;
    const nextGradient = new Float64Array(point.length);
    let halvings = 0;
    do {
      next = moved(point, direction, rate);
      nextValue = objective.at(next, nextGradient);
      rate /= 2;
      halvings += 1;
    } while (!(nextValue <= value + 2e-4 * rate * slope) && halvings < maxHalvings);
    // No step goes down any more: the rest is rounding.
    if (!(nextValue < value)) break;
    remember(steps, difference(next, point), difference(nextGradient, gradient));
    point = next;
    gradient = nextGradient;
    value = nextValue;
  }
  return point;
}

function remember(steps: Step[], move: Float64Array, turn: Float64Array): void {
  const product = dot(move, turn);
  // Otherwise it is rounding, or the function is not curved there.
  if (product <= 1e-12 * length(move) * length(turn)) return;
  steps.push({ move, turn, scale: 1 / product });
  if (steps.length > memory) steps.shift();
}

/** Returns the negative gradient, corrected by the curvature that the steps have shown. */
function descent(gradient: Float64Array, steps: readonly Step[], curvature: Float64Array): Float64Array {
  const direction = gradient.map((slope) => -slope);
  const factors: number[] = [];
  for (const { move, turn, scale } of steps.toReversed()) {
    const factor = scale * dot(move, direction);
    factors.push(factor);
    addScaled(direction, turn, -factor);
  }
  const ratio = computeStretch(steps.at(-1), curvature);
  for (let index = 0; index < direction.length; index += 1) {
    direction[index] = ((direction[index] ?? 0) * ratio) / (curvature[index] ?? 1);
  }
  for (const { move, turn, scale } of steps) {
    addScaled(direction, move, (factors.pop() ?? 0) - scale * dot(turn, direction));
  }
  return direction;
}

/** Estimates by the last step how much flatter the function is than its curvature says. */
function computeStretch(last: Step | undefined, curvature: Float64Array): number {
  if (!last) return 1;
  const { turn, scale } = last;
  return 1 / (scale * turn.reduce((sum, value, index) => sum + (value * value) / (curvature[index] ?? 1), 0));
}

function moved(point: Float64Array, direction: Float64Array, rate: number): Float64Array<ArrayBuffer> {
  const next = Float64Array.from(point);
  addScaled(next, direction, rate);
  return next;
}

function difference(left: Float64Array, right: Float64Array): Float64Array {
  return left.map((value, index) => value - (right[index] ?? 0));
}

function addScaled(target: Float64Array, source: Float64Array, factor: number): void {
  for (let index = 0; index < target.length; index += 1) {
    target[index] = (target[index] ?? 0) + factor * (source[index] ?? 0);
  }
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

function length(vector: Float64Array): number {
  return Math.sqrt(dot(vector, vector));
}
