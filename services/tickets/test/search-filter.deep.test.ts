import './search-filter.int.test.ts';
