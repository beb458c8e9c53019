import { buildClient } from '../client/build-client.ts';
import { declareCommand } from './command.ts';

const usage = `Compiles packages/client into its folder dist, as it is published:

  npm run build -w packages/client
`;

export const command = declareCommand({ usage, options: {}, runsInProduction: true }, () => buildClient());
