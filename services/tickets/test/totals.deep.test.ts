import './totals.int.test.ts';
