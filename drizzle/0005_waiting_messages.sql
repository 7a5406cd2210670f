-- formerly: 5daa9d4d313fa1d3eb8912de42a46a638cf2091f79da91b4a1de56479877330c
-- The indexes of messages that belong here are made by 0027, without stopping writers.
ALTER INDEX "messages_code" RENAME TO "messages_code_unfinished";
