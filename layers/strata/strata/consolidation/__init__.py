"""From session to long-term memory: claim, fresh, judge, normalise, prune, conflicts, commit, record."""
