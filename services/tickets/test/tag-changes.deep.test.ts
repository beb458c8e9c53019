import './tag-changes.int.test.ts';
