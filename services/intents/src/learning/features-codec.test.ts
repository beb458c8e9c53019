import { expect, test } from 'vitest';
import { featuresOf } from './features.ts';
import { featuresFromBytes, featuresToBytes } from './features-codec.ts';

test.each([
  ['a text', 'Guten Tag, mein Abschlag ist viel zu hoch. Abschlag, Abschlag!'],
  ['nothing', ''],
])('features of %s are the same after they were bytes', (_, body) => {
  const features = featuresOf({ subject: null, body });
  // As the driver returns them: a part of a larger buffer, at any position.
  const stored = Buffer.concat([Buffer.from('abc'), featuresToBytes(features), Buffer.from('d')]).subarray(3, -1);
  expect(featuresFromBytes(stored)).toEqual(features);
});
