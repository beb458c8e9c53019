import { profileKinds } from '@ticketing/service-kit/identity/caller.ts';
import { existingKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken, type TokenClaims } from '@ticketing/testkit/sign-token.ts';
import { declareCommand, print, readNumber, readWord, UsageError } from './command.ts';

const usage = `Prints an access token that is signed by the issuer of the local system:

  npm run --silent token -- --sub 7 --kind user --role 2 --permissions deleteTicket,manageTags

  --data DIR             the data folder of the system, with the issuer's key (./data)
  --sub ID               the id of the profile (1)
  --kind KIND            the kind of the profile: user, vendor, vendorPartner, serviceWorker, codeExecutor or system (user)
  --role ID              the id of the role; 1 is the admin, who has all rights (1)
  --permissions A,B      the rights
  --teams 1,2            the ids of the teams
  --skills 3,4           the ids of the skill tags that the profile has
  --excluded 5           the ids of the tags that are excluded for a restricted profile
  --restricted           tickets with an excluded tag do not match the skills of the profile
  --name, --first-name, --last-name, --email
                         name and address of the profile
  --expires 12h          the lifetime: seconds, or a number with s, m, h or d (12h)
`;

const options = {
  data: { type: 'string', default: './data' },
  sub: { type: 'string', default: '1' },
  kind: { type: 'string', default: 'user' },
  role: { type: 'string', default: '1' },
  permissions: { type: 'string', default: '' },
  teams: { type: 'string', default: '' },
  skills: { type: 'string', default: '' },
  excluded: { type: 'string', default: '' },
  restricted: { type: 'boolean', default: false },
  name: { type: 'string' },
  'first-name': { type: 'string' },
  'last-name': { type: 'string' },
  email: { type: 'string' },
  expires: { type: 'string', default: '12h' },
} as const;

export const command = declareCommand({ usage, options }, async (values) => {
  const claims: TokenClaims = {
    sub: String(readNumber('sub', values.sub, { to: 0x7fff_ffff })),
    kind: readWord('kind', values.kind, profileKinds),
    roleId: readNumber('role', values.role, { from: 0, to: 9_999_999_999 }),
    permissions: list(values.permissions),
    teams: wholeNumbers('teams', values.teams),
    skills: {
      tagIds: wholeNumbers('skills', values.skills),
      excludedTagIds: wholeNumbers('excluded', values.excluded),
      restricted: values.restricted,
    },
    ...(values.name === undefined ? {} : { name: values.name }),
    ...(values['first-name'] === undefined ? {} : { firstName: values['first-name'] }),
    ...(values['last-name'] === undefined ? {} : { lastName: values['last-name'] }),
    ...(values.email === undefined ? {} : { email: values.email }),
  };
  const { issuerKeyFile } = existingKeys(values.data);
  print(await signToken(issuerKeyFile, claims, seconds(values.expires)));
});

function list(text: string): string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

function wholeNumbers(name: string, text: string): number[] {
  return list(text).map((part) => readNumber(name, part, { from: 0, to: 9_999_999_999 }));
}

function seconds(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  if (amount === undefined) throw new UsageError(`--expires takes a time such as 45m, 12h or 7d, not "${text}".`);
  return Number(amount) * ({ m: 60, h: 3600, d: 86_400 }[unit ?? ''] ?? 1);
}
