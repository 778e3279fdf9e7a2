"""Pure ranking: tokens, keyword postings, vector scan, and how their scores become one."""
