import { buildImages, findEngine, imageServices, pushImages } from '../images/build-images.ts';
import { declareCommand, print, UsageError } from './command.ts';

const usage = `Builds the images of the services with podman or docker, and prints their names:

  npm run images
  npm run images -- --prefix registry.example/ticketing/ --tag 0.1.0 --push

  --service NAME   only this one; may be repeated
  --prefix PREFIX  what stands before the name of the service (localhost/ticketing/)
  --tag TAG        the tag (dev)
  --push           pushes them afterwards to the registry that the prefix names; log on to it before (podman login)
  --engine PROGRAM podman or docker (whichever runs here)
`;

const options = {
  service: { type: 'string', multiple: true },
  prefix: { type: 'string', default: 'localhost/ticketing/' },
  tag: { type: 'string', default: 'dev' },
  push: { type: 'boolean', default: false },
  engine: { type: 'string' },
} as const;

export const command = declareCommand({ usage, options }, (values) => {
  const names = values.service ?? imageServices;
  const unknown = names.find((name) => !imageServices.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no service ${unknown}.`);
  const engine = values.engine ?? findEngine();
  if (engine === undefined) throw new UsageError('Neither podman nor docker runs here.');
  const { prefix, tag } = values;
  if (values.push && prefix.startsWith('localhost/')) throw new UsageError('--push needs the --prefix of a registry.');
  const images = buildImages({ engine, prefix, tag, names });
  if (values.push) pushImages(engine, images);
  for (const image of images) print(image);
});
