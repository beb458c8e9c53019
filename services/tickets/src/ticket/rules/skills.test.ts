import { expect, test } from 'vitest';
import { hasRequiredSkills } from './worked-on.ts';

const isRoutingSkill = (tagId: number) => tagId < 10;
const nobody = { tagIds: [], excludedTagIds: [], restricted: false };

test.each<[string, { agentId?: number | null; tagIds?: number[] }, Partial<typeof nobody> | object, boolean]>([
  // spec: 20.10
  ['a ticket without tags needs no skill', {}, {}, true],
  ['a tag that is not relevant to routing needs no skill', { tagIds: [10] }, {}, true],
  // spec: 6.69
  ['a skill tag needs the skill', { tagIds: [1] }, { tagIds: [2] }, false],
  ['one of several skills is enough', { tagIds: [1, 2] }, { tagIds: [2] }, true],
  ['a tag that is not relevant to routing does not match a skill', { tagIds: [1, 10] }, { tagIds: [10] }, false],
  [
    'an excluded tag hides a ticket from a restricted caller',
    { tagIds: [10] },
    { excludedTagIds: [10], restricted: true },
    false,
  ],
  [
    'an excluded tag hides also a ticket that matches a skill',
    { tagIds: [1, 10] },
    { tagIds: [1], excludedTagIds: [10], restricted: true },
    false,
  ],
  [
    'an excluded tag hides nothing from a caller who is not restricted',
    { tagIds: [10] },
    { excludedTagIds: [10] },
    true,
  ],
  ['a ticket that is assigned to the caller needs no skill', { tagIds: [1], agentId: 7 }, {}, true],
  [
    'a ticket that is assigned to the caller is not hidden by an excluded tag',
    { tagIds: [1], agentId: 7 },
    { excludedTagIds: [1], restricted: true },
    true,
  ],
  ['a ticket that is assigned to another needs the skill', { tagIds: [1], agentId: 8 }, {}, false],
])('%s', (_, ticket, skills, expected) => {
  const caller = { profileId: 7, skills: { ...nobody, ...skills } };
  expect(hasRequiredSkills({ agentId: null, tagIds: [], ...ticket }, caller, isRoutingSkill)).toBe(expected);
});

test('a ticket without an agent is not assigned to a caller without a profile', () => {
  const caller = { profileId: null, skills: nobody };
  expect(hasRequiredSkills({ agentId: null, tagIds: [1] }, caller, isRoutingSkill)).toBe(false);
});
