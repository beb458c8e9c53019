import './feed.e2e.test.ts';
