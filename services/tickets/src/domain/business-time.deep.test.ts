import './business-time.test.ts';
