import './search-index.int.test.ts';
