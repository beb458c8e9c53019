import './tag-crash.int.test.ts';
