export * from '../../../scripts/development/keys.ts';
