export * from '../../../scripts/development/sign-token.ts';
